package dev.postrider.servlet;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.contracts.IdempotencyKeyContract;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedResponse;
import dev.postrider.testkit.InMemoryCommands;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The filter before a servlet in each container, over keys in memory. */
@ParameterizedClass(name = "{0}")
@MethodSource("dev.postrider.servlet.TestServer$Container#tested")
final class IdempotencyKeyFilterContractTest extends IdempotencyKeyContract {

    private final InMemoryCommands commands = new InMemoryCommands();
    private final List<TestServer> servers = new ArrayList<>();
    private final TestServer.Container container;

    IdempotencyKeyFilterContractTest(TestServer.Container container) {
        this.container = container;
    }

    @AfterEach
    void stop() throws Exception {
        for (TestServer server : servers) {
            server.stop();
        }
    }

    @Override
    protected Commands commands() {
        return commands;
    }

    @Override
    protected void advance(Duration time) {
        commands.advance(time);
    }

    @Override
    protected URI serve(IdempotencyKey key, Commands commands, Application application) throws Exception {
        TestServer server =
                container.start(List.of(new IdempotencyKeyFilter(key, commands)), new ApplicationServlet(application));
        servers.add(server);
        return server.uri();
    }

    private static final class ApplicationServlet extends HttpServlet {

        private static final long serialVersionUID = 1;

        private final transient Application application;

        ApplicationServlet(Application application) {
            this.application = application;
        }

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            String body = new String(request.getInputStream().readAllBytes(), UTF_8);
            Object transaction = request.getAttribute(IdempotencyKey.TRANSACTION);
            KeyedResponse answer = handle(body, (CommandTransaction) transaction);
            if (answer.header(UNRECORDED) != null) {
                request.setAttribute(IdempotencyKey.UNRECORDED, true);
            }
            response.setStatus(answer.status());
            answer.headers().forEach((name, lines) -> lines.forEach(line -> response.addHeader(name, line)));
            response.getOutputStream().write(answer.body());
            response.flushBuffer();
        }

        private KeyedResponse handle(String body, CommandTransaction transaction) throws ServletException {
            try {
                return application.handle(body, transaction);
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new ServletException(e);
            }
        }
    }
}
