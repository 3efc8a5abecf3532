package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedRequest;
import dev.postrider.idempotency.http.KeyedResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Runs a change once for its Idempotency-Key. The keys are commands in the database, so every process that serves the API
 * knows them. The change itself runs in transactions of its own, which the transaction of a command could not contain. So it
 * is a leased command with an external effect: if the process dies in between, the outcome is not known, the change is not
 * run again, and the audit shows what was done. Thread-safe.
 */
final class KeyedWrites {

    static final String KEY = "Idempotency-Key";

    private static final IdempotencyKey SETTINGS = IdempotencyKey.required("postrider.admin");

    private final Commands commands;

    KeyedWrites(Commands commands) {
        this.commands = commands;
    }

    /**
     * Answers a request with a key. A request that changes nothing leaves its key unused.
     *
     * @param change throws an exception of which {@link Failures#changedNothing} tells whether it did nothing
     */
    AdminResponse answer(AdminRequest request, String body, Operator operator, Change change) {
        IdempotencyKey key = SETTINGS.caller(call -> operator.name());
        String tenant = operator.tenant();
        if (tenant != null) {
            key = key.tenant(call -> tenant);
        }
        KeyedRequest call = KeyedRequest.of(
                        request.method(), request.path(), request.query(), request.headers(), operator.name())
                .withBody(body.getBytes(UTF_8));
        return response(key.endpoint(commands).<RuntimeException>answerLeased(call, (same, lease) -> {
            lease.externalEffectStarted();
            try {
                return keyed(change.answer().get());
            } catch (RuntimeException e) {
                if (!Failures.changedNothing(e, change.isInSteps())) {
                    throw e;
                }
                lease.externalEffectDidNotHappen();
                return keyed(Failures.response(e)).unrecorded();
            }
        }));
    }

    /** @param isInSteps whether it changes something in several transactions */
    record Change(Supplier<AdminResponse> answer, boolean isInSteps) {}

    private static KeyedResponse keyed(AdminResponse response) {
        Map<String, List<String>> headers = new LinkedHashMap<>();
        response.headers().forEach((name, value) -> headers.put(name, List.of(value)));
        return KeyedResponse.of(response.status(), headers, response.body().getBytes(UTF_8));
    }

    private static AdminResponse response(KeyedResponse answer) {
        Map<String, String> headers = new LinkedHashMap<>();
        answer.headers().forEach((name, lines) -> headers.put(name, String.join(", ", lines)));
        return new AdminResponse(answer.status(), headers, new String(answer.body(), UTF_8), null);
    }
}
