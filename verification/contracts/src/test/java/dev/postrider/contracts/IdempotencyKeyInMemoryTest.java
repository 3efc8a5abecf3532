package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpHandler;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.CommandWork;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.LeasedWork;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedResponse;
import dev.postrider.testkit.InMemoryCommands;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The adapter for the JDK's server in both forms, over keys in memory. */
@ParameterizedClass(name = "{0}")
@EnumSource(JdkServer.Form.class)
final class IdempotencyKeyInMemoryTest extends IdempotencyKeyContract {

    private final JdkServer.Form form;
    private final InMemoryCommands commands = new InMemoryCommands();
    private @Nullable JdkServer server;

    IdempotencyKeyInMemoryTest(JdkServer.Form form) {
        this.form = form;
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected Commands commands() {
        return commands;
    }

    @Override
    protected URI serve(IdempotencyKey key, Commands commands, Application application) throws IOException {
        return serve(form.around(key, commands, application));
    }

    private URI serve(HttpHandler handler) throws IOException {
        JdkServer running = server == null ? new JdkServer() : server;
        server = running;
        return running.serve(handler);
    }

    @Override
    protected void advance(Duration time) {
        commands.advance(time);
    }

    @Override
    protected boolean canFailOpen() {
        return form == JdkServer.Form.EXCHANGE;
    }

    private static HttpResponse<String> send(URI uri, String method) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(uri)
                .header(USER, "ada")
                .header("Idempotency-Key", "k")
                .method(method, HttpRequest.BodyPublishers.ofString("{}"))
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void otherMethodsAreNotAllowedWithoutAHandlerForThem() throws Exception {
        URI uri = serve(IdempotencyKey.required("pay")
                .around(commands, (call, transaction) -> KeyedResponse.text(200, call.method())));
        assertThat(send(uri, "POST").body()).isEqualTo("POST");
        HttpResponse<String> get = send(uri, "GET");
        assertThat(get.statusCode()).isEqualTo(405);
        assertThat(get.headers().firstValue("Allow"))
                .hasValueSatisfying(allow -> assertThat(allow.split(", ")).containsExactlyInAnyOrder("POST", "PATCH"));
    }

    @Test
    void handlerThatNeedsATransactionCannotDoWithout() {
        IdempotencyKey key = IdempotencyKey.required("pay");
        assertThatThrownBy(() -> key.failOpen().around(commands, (call, transaction) -> KeyedResponse.of(204)))
                .isInstanceOf(InvalidConfigurationException.class);
        assertThatThrownBy(() ->
                        IdempotencyKey.optional("pay").around(commands, (call, transaction) -> KeyedResponse.of(204)))
                .isInstanceOf(InvalidConfigurationException.class);
    }

    @Test
    void handlerThatReturnsWithoutAnAnswerFails() throws Exception {
        URI uri = serve(IdempotencyKey.required("pay")
                .around(commands, exchange -> exchange.getRequestBody().close()));
        assertThat(send(uri, "POST").statusCode()).isEqualTo(500);
    }

    /** The server itself would cut the connection: a record of it would be replayed as if it were whole. */
    @ParameterizedTest
    @CsvSource({"10, 3", "3, 10", "-1, 3"})
    void handlerThatWritesAnotherLengthThanItAnnouncedFails(long announced, int written) throws Exception {
        URI uri = serve(IdempotencyKey.required("pay").around(commands, exchange -> {
            exchange.sendResponseHeaders(200, announced);
            exchange.getResponseBody().write(new byte[written]);
        }));
        HttpResponse<String> response = send(uri, "POST");
        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body()).contains("handler-failed");
    }

    @Test
    void handlerThatWritesAfterItsAnswerWasClosedFails() throws Exception {
        URI uri = serve(IdempotencyKey.required("pay").around(commands, exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write('a');
            exchange.getResponseBody().close();
            exchange.getResponseBody().write('b');
        }));
        assertThat(send(uri, "POST").statusCode()).isEqualTo(500);
    }

    @Test
    void handlerThatSwallowsTheOverflowFailsNevertheless() throws Exception {
        URI uri = serve(IdempotencyKey.required("pay").largestAnswer(10).around(commands, exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try {
                exchange.getResponseBody().write(new byte[11]);
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("largestAnswer");
            }
        }));
        HttpResponse<String> response = send(uri, "POST");
        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body()).contains("answer-not-recordable");
    }

    @Test
    void leasedEffectIsReplayed() throws Exception {
        URI uri = serve(IdempotencyKey.required("pay").aroundLeased(commands, (call, lease) -> {
            lease.externalEffectStarted();
            return KeyedResponse.text(201, "attempt " + lease.attempt());
        }));
        assertThat(send(uri, "POST").body()).isEqualTo("attempt 1");
        HttpResponse<String> replay = send(uri, "POST");
        assertThat(replay.body()).isEqualTo("attempt 1");
        assertThat(replay.headers().firstValue("Idempotency-Replayed")).hasValue("true");
    }

    /** The effect is there: to call it a failure would make the client do it again. */
    @Test
    void leasedEffectWhoseRecordIsLostIsStillAnswered() throws Exception {
        URI uri = serve(IdempotencyKey.required("pay")
                .aroundLeased(new Forgetful(commands), (call, lease) -> KeyedResponse.text(201, "sent")));
        HttpResponse<String> response = send(uri, "POST");
        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(response.body()).isEqualTo("sent");
        assertThat(response.headers().firstValue("Idempotency-Degraded")).hasValue("true");
    }

    /** The outcome of a transaction is not known; a request with the same key finds out. */
    @Test
    void commitWhoseAnswerIsLostIsAskedForAgain() throws Exception {
        URI uri = serve(IdempotencyKey.required("pay")
                .around(new Forgetful(commands), (call, transaction) -> KeyedResponse.text(201, "done")));
        HttpResponse<String> lost = send(uri, "POST");
        assertThat(lost.statusCode()).isEqualTo(503);
        assertThat(lost.body()).contains("store-unavailable", "\"safe_new_key\":false");
        HttpResponse<String> found = send(uri, "POST");
        assertThat(found.statusCode()).isEqualTo(201);
        assertThat(found.headers().firstValue("Idempotency-Replayed")).hasValue("true");
    }

    /** Does what it is told the first time, but does not hear that it was done. */
    private record Forgetful(Commands commands) implements Commands {

        private static <R> CommandResult<R> lose(CommandResult<R> result) {
            if (!result.isReplayed()) {
                throw new StoreUnavailableException("The answer was lost", new IOException("as the test asked"));
            }
            return result;
        }

        @Override
        public <R, X extends Exception> CommandResult<R> run(Command<R> command, CommandWork<R, X> work) throws X {
            return lose(commands.run(command, work));
        }

        @Override
        public <R, X extends Exception> CommandResult<R> join(
                Connection connection, Command<R> command, CommandWork<R, X> work) throws X {
            return commands.join(connection, command, work);
        }

        @Override
        public <R, X extends Exception> CommandResult<R> lease(Command<R> command, LeasedWork<R, X> work) throws X {
            return lose(commands.lease(command, work));
        }
    }
}
