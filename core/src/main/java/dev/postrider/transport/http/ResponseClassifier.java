package dev.postrider.transport.http;

import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Maps an HTTP status to a delivery result. {@code docs/webhooks.md} has the same table in words. */
final class ResponseClassifier {

    private static final int GONE = 410;
    private static final int NOT_IMPLEMENTED = 501;

    /** Client errors that can end without a change of the message: credentials, routing, conflicts, overload. */
    private static final Set<Integer> PASSING = Set.of(401, 403, 404, 407, 408, 409, 421, 423, 424, 425, 429);

    private final WebhookSettings settings;

    ResponseClassifier(WebhookSettings settings) {
        this.settings = settings;
    }

    static boolean permanentByDefault(int status) {
        return (status >= 400 && status < 500 && !PASSING.contains(status)) || status == NOT_IMPLEMENTED;
    }

    DeliveryResult on(ResponseReader.Head head, String body) {
        int status = head.status();
        if (status >= 200 && status < 300) {
            return DeliveryResult.delivered();
        }
        String error = error(status, body);
        if (settings.permanent.test(status)) {
            return DeliveryResult.rejected(error);
        }
        Duration wait = head.headers()
                .firstValue("retry-after")
                .map(value -> RetryAfter.parse(value, settings.clock.instant()))
                .orElse(null);
        return failed(error, wait);
    }

    private static DeliveryResult failed(String error, @Nullable Duration wait) {
        return wait == null ? DeliveryResult.failed(error) : DeliveryResult.failed(error, wait);
    }

    private String error(int status, String body) {
        String meaning = status == GONE
                ? " (the endpoint is gone)"
                : status >= 300 && status < 400 ? " (redirects are not followed)" : "";
        String said = Excerpt.of(withoutSecrets(body));
        return "HTTP " + status + meaning + (said.isEmpty() ? "" : ": " + said);
    }

    /** Redacts configured header values, because error pages sometimes echo the request. */
    private String withoutSecrets(String body) {
        String clean = body;
        for (HttpHeader header : settings.headers) {
            clean = header.hideIn(clean);
        }
        return clean;
    }
}
