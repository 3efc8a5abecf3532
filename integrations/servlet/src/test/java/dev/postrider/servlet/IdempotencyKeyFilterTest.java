package dev.postrider.servlet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.error.TransactionConflictException;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.CommandWork;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.LeasedWork;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.testkit.InMemoryCommands;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is of servlets only, in each container. */
@Timeout(180)
@ParameterizedClass(name = "{0}")
@MethodSource("dev.postrider.servlet.TestServer$Container#tested")
final class IdempotencyKeyFilterTest {

    @FunctionalInterface
    private interface Service {
        void handle(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException;
    }

    private static final IdempotencyKey KEY = IdempotencyKey.required("payments.charge");

    private final InMemoryCommands commands = new InMemoryCommands();
    private final AtomicInteger runs = new AtomicInteger();
    private final TestServer.Container container;
    private @Nullable TestServer server;

    IdempotencyKeyFilterTest(TestServer.Container container) {
        this.container = container;
    }

    @AfterEach
    void stop() throws Exception {
        if (server != null) {
            server.stop();
            server = null;
        }
    }

    private void serve(Service service) throws Exception {
        serve(List.of(new IdempotencyKeyFilter(KEY, commands)), service);
    }

    private void serve(List<Filter> filters, Service service) throws Exception {
        server = container.start(filters, new HttpServlet() {
            private static final long serialVersionUID = 1;

            @Override
            protected void service(HttpServletRequest request, HttpServletResponse response)
                    throws ServletException, IOException {
                runs.incrementAndGet();
                // this version of Jetty spells its own default in the letters of the locale, which here are Turkish
                response.setCharacterEncoding("utf-8");
                service.handle(request, response);
            }
        });
    }

    private HttpResponse<String> post(String type, String body) throws Exception {
        return send(type, HttpRequest.BodyPublishers.ofString(body));
    }

    private HttpResponse<String> send(HttpRequest.BodyPublisher body) throws Exception {
        return send("application/json", body);
    }

    private HttpResponse<String> send(String type, HttpRequest.BodyPublisher body, String... headers) throws Exception {
        if (server == null) {
            throw new IllegalStateException("nothing is served");
        }
        HttpRequest.Builder request = HttpRequest.newBuilder(server.uri())
                .header("Content-Type", type)
                .header("Idempotency-Key", "k")
                .header(Believer.USER, "ada")
                .POST(body);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> post() throws Exception {
        return post("application/json", "{}");
    }

    private static boolean isReplay(HttpResponse<String> response) {
        return response.headers().firstValue("Idempotency-Replayed").isPresent();
    }

    @Test
    void parametersOfAFormAreThereAlthoughItsBodyWasRead() throws Exception {
        serve((request, response) -> response.getWriter()
                .print(request.getParameter("amount") + "/"
                        + String.join("+", request.getParameterValues("item")) + "/"
                        + request.getParameterMap().size()));
        String form = "application/x-www-form-urlencoded";
        assertThat(post(form, "amount=4%32&item=a&item=b+c").body()).isEqualTo("42/a+b c/2");
        assertThat(post(form, "amount=43&item=a").statusCode()).isEqualTo(422);
    }

    /** What is no escape stays as it is, as in the URL standard's parser of forms. */
    @Test
    void malformedEscapeInAFormIsText() throws Exception {
        serve((request, response) ->
                response.getWriter().print(request.getParameter("amount") + "/" + request.getParameter("item")));
        HttpResponse<String> response = post("application/x-www-form-urlencoded", "amount=%zz&%=%4&item=100%");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("%zz/100%");
    }

    @Test
    void malformedEscapeInTheQueryOfAnEmptyFormIsText() throws Exception {
        serve((request, response) -> response.getWriter().print(request.getParameter("amount")));
        String raw =
                "POST /payments?amount=%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIdempotency-Key: k\r\n"
                        + Believer.USER
                        + ": ada\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n\r\n";
        assertThat(sendRaw(raw)).startsWith("HTTP/1.1 200").contains("%zz");
    }

    private String sendRaw(String request) throws IOException {
        if (server == null) {
            throw new IllegalStateException("nothing is served");
        }
        try (Socket socket = new Socket(server.uri().getHost(), server.uri().getPort())) {
            socket.getOutputStream().write(request.getBytes(UTF_8));
            return new String(socket.getInputStream().readAllBytes(), UTF_8);
        }
    }

    @Test
    void forwardToAStreamIsPartOfTheAnswer() throws Exception {
        serve((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.FORWARD) {
                response.setStatus(201);
                response.setHeader("Location", "/payments/7");
                response.setContentType("text/plain; charset=utf-8");
                response.getOutputStream().write("forwarded".getBytes(UTF_8));
            } else {
                request.getRequestDispatcher("/forwarded").forward(request, response);
            }
        });
        for (boolean replay : List.of(false, true)) {
            HttpResponse<String> response = post();
            assertThat(response.statusCode()).isEqualTo(201);
            assertThat(response.body()).isEqualTo("forwarded");
            assertThat(response.headers().firstValue("Location")).hasValue("/payments/7");
            assertThat(isReplay(response)).isEqualTo(replay);
        }
    }

    @Test
    void includeIsPartOfTheAnswer() throws Exception {
        serve((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.INCLUDE) {
                response.getWriter().print("included, ");
            } else {
                request.getRequestDispatcher("/included").include(request, response);
                response.getWriter().print("and more");
            }
        });
        for (boolean replay : List.of(false, true)) {
            HttpResponse<String> response = post();
            assertThat(response.body()).isEqualTo("included, and more");
            assertThat(isReplay(response)).isEqualTo(replay);
        }
    }

    @Test
    void errorBehindAForwardIsReplayed() throws Exception {
        serve((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.FORWARD) {
                response.sendError(409, "no money");
            } else {
                request.getRequestDispatcher("/forwarded").forward(request, response);
            }
        });
        for (boolean replay : List.of(false, true)) {
            HttpResponse<String> response = post();
            assertThat(response.statusCode()).isEqualTo(409);
            assertThat(isReplay(response)).isEqualTo(replay);
        }
    }

    @Test
    void headerBeyondLatinIsSentAsContainersSendItAndRefusesNothing() throws Exception {
        serve((request, response) -> {
            response.setHeader("X-City", "\u015Eile");
            response.getWriter().print("paid");
        });
        assertThat(post().body()).isEqualTo("paid");
        assertThat(isReplay(post())).isTrue();
    }

    @Test
    void forwardToAWriterIsPartOfTheAnswer() throws Exception {
        serve((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.FORWARD) {
                response.getWriter().print("forwarded " + request.getReader().readLine());
            } else {
                request.getRequestDispatcher("/forwarded").forward(request, response);
            }
        });
        for (boolean replay : List.of(false, true)) {
            HttpResponse<String> response = post();
            assertThat(response.body()).isEqualTo("forwarded {}");
            assertThat(isReplay(response)).isEqualTo(replay);
        }
    }

    /** Otherwise two forms would look the same, and the second would get the first one's answer. */
    @Test
    void bodyThatWasReadBeforeIsAnErrorOfTheServer() throws Exception {
        Filter greedy = (request, response, chain) -> {
            request.getParameter("amount");
            chain.doFilter(request, response);
        };
        serve(List.of(greedy, new IdempotencyKeyFilter(KEY, commands)), (request, response) -> {});
        HttpResponse<String> response = post("application/x-www-form-urlencoded", "amount=42");
        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body()).contains("put the filter before");
        assertThat(runs).hasValue(0);
        assertThat(commands.size()).isZero();
    }

    /** Otherwise two requests that differ only in what was read would look the same. */
    @Test
    void bodyThatWasReadInPartIsAnErrorOfTheServer() throws Exception {
        serve(List.of(reader(8), new IdempotencyKeyFilter(KEY, commands)), (request, response) -> {});
        for (String body : List.of("{\"pay\":1}", "{\"poy\":1}")) {
            HttpResponse<String> response = post("application/json", body);
            assertThat(response.statusCode()).isEqualTo(500);
            assertThat(response.body()).contains("put the filter before");
        }
        assertThat(runs).hasValue(0);
        assertThat(commands.size()).isZero();
    }

    /** The length is that of the encoded body, which may be the longer one. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bodyThatAFilterInFrontHasDecodedIsPartOfTheRequest(boolean hidesTheEncoding) throws Exception {
        Filter decoding = (request, response, chain) ->
                chain.doFilter(new DecodedRequest((HttpServletRequest) request, hidesTheEncoding), response);
        serve(
                List.of(decoding, new IdempotencyKeyFilter(KEY, commands)),
                (request, response) ->
                        response.getWriter().print(request.getReader().readLine()));
        for (String body : List.of("{\"pay\":1}", "{\"pay\":2}")) {
            ByteArrayOutputStream encoded = new ByteArrayOutputStream();
            try (GZIPOutputStream gzip = new GZIPOutputStream(encoded)) {
                gzip.write(body.getBytes(UTF_8));
            }
            HttpResponse<String> response = send(
                    "application/json",
                    HttpRequest.BodyPublishers.ofByteArray(encoded.toByteArray()),
                    "Content-Encoding",
                    "gzip");
            assertThat(response.statusCode()).isEqualTo(body.contains("1") ? 200 : 422);
        }
        assertThat(runs).hasValue(1);
    }

    private static final class DecodedRequest extends HttpServletRequestWrapper {

        private final boolean hidesTheEncoding;

        DecodedRequest(HttpServletRequest request, boolean hidesTheEncoding) {
            super(request);
            this.hidesTheEncoding = hidesTheEncoding;
        }

        @Override
        public @Nullable String getHeader(String name) {
            return hidesTheEncoding && name.equalsIgnoreCase("Content-Encoding") ? null : super.getHeader(name);
        }

        @Override
        public ServletInputStream getInputStream() throws IOException {
            InputStream decoded = new GZIPInputStream(super.getInputStream());
            return new ServletInputStream() {
                @Override
                public int read() throws IOException {
                    return decoded.read();
                }

                @Override
                public int read(byte[] target, int from, int length) throws IOException {
                    return decoded.read(target, from, length);
                }

                @Override
                public boolean isFinished() {
                    return false;
                }

                @Override
                public boolean isReady() {
                    return true;
                }

                @Override
                public void setReadListener(ReadListener listener) {
                    throw new IllegalStateException("not asynchronous");
                }
            };
        }
    }

    @Test
    void chunkedBodyThatWasReadBeforeIsAnErrorOfTheServer() throws Exception {
        // the end of the body, which follows its last byte, is read or not
        for (int bytes : List.of(Integer.MAX_VALUE, 9)) {
            serve(List.of(reader(bytes), new IdempotencyKeyFilter(KEY, commands)), (request, response) -> {});
            HttpResponse<String> response = send(HttpRequest.BodyPublishers.ofInputStream(
                    () -> new ByteArrayInputStream("{\"pay\":1}".getBytes(UTF_8))));
            assertThat(response.statusCode()).isEqualTo(500);
            assertThat(response.body()).contains("put the filter before");
            stop();
        }
        assertThat(runs).hasValue(0);
        assertThat(commands.size()).isZero();
    }

    @Test
    void chunkedBodyIsPartOfTheRequest() throws Exception {
        serve((request, response) ->
                response.getWriter().print(request.getReader().readLine()));
        for (String body : List.of("{\"pay\":1}", "{\"pay\":2}")) {
            HttpResponse<String> response = send(
                    HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body.getBytes(UTF_8))));
            assertThat(response.statusCode()).isEqualTo(body.contains("1") ? 200 : 422);
        }
        assertThat(runs).hasValue(1);
    }

    private static Filter reader(int bytes) {
        return (request, response, chain) -> {
            request.getInputStream().readNBytes(bytes);
            chain.doFilter(request, response);
        };
    }

    @Test
    void asynchronousRequestIsRefused() throws Exception {
        AtomicReference<@Nullable String> refusal = new AtomicReference<>();
        serve((request, response) -> {
            assertThat(request.isAsyncSupported()).isFalse();
            try {
                request.startAsync();
            } catch (IllegalStateException e) {
                refusal.set(e.getMessage());
                throw e;
            }
        });
        assertThat(post().statusCode()).isEqualTo(500);
        assertThat(refusal.get()).contains("cannot be asynchronous");
        post();
        assertThat(runs).as("nothing was recorded").hasValue(2);
    }

    @Test
    void errorPageIsMadeByTheContainerOnce() throws Exception {
        serve((request, response) -> response.sendError(409, "no money"));
        HttpResponse<String> first = post();
        assertThat(first.statusCode()).isEqualTo(409);
        assertThat(first.body()).contains("no money");
        HttpResponse<String> replay = post();
        assertThat(replay.statusCode()).isEqualTo(409);
        assertThat(isReplay(replay)).isTrue();
        assertThat(runs).hasValue(1);
    }

    @Test
    void redirectIsReplayed() throws Exception {
        serve((request, response) -> response.sendRedirect("/payments/7"));
        for (boolean replay : List.of(false, true)) {
            HttpResponse<String> response = post();
            assertThat(response.statusCode()).isEqualTo(302);
            assertThat(response.headers().firstValue("Location")).hasValue("/payments/7");
            assertThat(isReplay(response)).isEqualTo(replay);
        }
    }

    @Test
    void writerHasTheEncodingOfTheAnswer() throws Exception {
        serve((request, response) -> {
            response.setContentType("text/plain; charset=iso-8859-9");
            response.getWriter().print("größer, ığş");
        });
        HttpResponse<String> first = post();
        HttpResponse<String> replay = post();
        assertThat(first.body()).isEqualTo("größer, ığş");
        assertThat(replay.body()).isEqualTo("größer, ığş");
        assertThat(replay.headers().firstValue("Content-Type"))
                .isEqualTo(first.headers().firstValue("Content-Type"));
    }

    /** What the writer has begun in, it goes on in, and the header must not say otherwise. */
    @Test
    void encodingOfTheWriterStaysWhateverIsSaidLater() throws Exception {
        serve((request, response) -> {
            response.setContentType("text/plain; charset=iso-8859-9");
            PrintWriter writer = response.getWriter();
            response.setContentType("application/json; charset=utf-8");
            response.setCharacterEncoding("utf-16");
            response.setLocale(Locale.JAPAN);
            response.setHeader("Content-Type", "application/xml; charset=utf-8");
            writer.print("größer, ığş");
        });
        for (boolean replay : List.of(false, true)) {
            HttpResponse<String> response = post();
            assertThat(response.body()).isEqualTo("größer, ığş");
            assertThat(response.headers().firstValue("Content-Type").orElseThrow())
                    .startsWith("application/xml")
                    .endsWithIgnoringCase("charset=iso-8859-9");
            assertThat(isReplay(response)).isEqualTo(replay);
        }
    }

    @Test
    void languageOfTheLocaleIsPartOfTheAnswer() throws Exception {
        serve((request, response) -> {
            response.setLocale(Locale.forLanguageTag("de-AT"));
            response.getWriter().print("bezahlt");
        });
        for (boolean replay : List.of(false, true)) {
            HttpResponse<String> response = post();
            assertThat(response.headers().allValues("Content-Language")).containsExactly("de-AT");
            assertThat(isReplay(response)).isEqualTo(replay);
        }
    }

    @Test
    void queryOfAFormIsReadInItsOwnEncoding() throws Exception {
        serve((request, response) ->
                response.getWriter().print(request.getParameter("city") + "/" + request.getParameter("name")));
        String raw =
                "POST /payments?city=K%C3%B6ln HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIdempotency-Key: k\r\n"
                        + Believer.USER
                        + ": ada\r\nContent-Type: application/x-www-form-urlencoded;charset=iso-8859-9\r\nContent-Length: 12\r\n\r\nname=J%F6rg+";
        assertThat(sendRaw(raw)).startsWith("HTTP/1.1 200").contains("Köln/Jörg");
    }

    @Test
    void whatWasWrittenBeforeAForwardIsNotPartOfTheAnswer() throws Exception {
        serve((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.FORWARD) {
                response.getOutputStream().write("forwarded".getBytes(UTF_8));
            } else {
                response.getOutputStream().write("before".getBytes(UTF_8));
                request.getRequestDispatcher("/forwarded").forward(request, response);
            }
        });
        for (boolean replay : List.of(false, true)) {
            HttpResponse<String> response = post();
            assertThat(response.body()).isEqualTo("forwarded");
            assertThat(isReplay(response)).isEqualTo(replay);
        }
    }

    @Test
    void nothingIsWrittenAfterTheAnswerWasClosed() throws Exception {
        AtomicReference<@Nullable IOException> refusal = new AtomicReference<>();
        serve((request, response) -> {
            response.getOutputStream().write("paid".getBytes(UTF_8));
            response.getOutputStream().close();
            try {
                response.getOutputStream().write(", and more".getBytes(UTF_8));
            } catch (IOException e) {
                refusal.set(e);
            }
        });
        assertThat(post().body()).isEqualTo("paid");
        assertThat(refusal.get()).isNotNull();
        assertThat(post().body()).isEqualTo("paid");
    }

    @Test
    void asynchronousRequestBehindTheWrappersIsRefused() throws Exception {
        serve((request, response) -> {
            ServletRequest container = request;
            while (container instanceof ServletRequestWrapper wrapper) {
                container = wrapper.getRequest();
            }
            container.startAsync();
        });
        assertThat(post().statusCode()).isEqualTo(500);
        post();
        assertThat(runs).as("nothing was recorded").hasValue(2);
    }

    @Test
    void readerReadsTheBody() throws Exception {
        serve((request, response) ->
                response.getWriter().print(request.getReader().readLine()));
        assertThat(post("application/json; charset=utf-8", "größer").body()).isEqualTo("größer");
        assertThat(post("application/json; charset=utf-8", "größer").body()).isEqualTo("größer");
        assertThat(runs).hasValue(1);
    }

    @Test
    void headersOfAFilterInFrontAreFreshAndThereOnce() throws Exception {
        serve((request, response) -> {
            response.addCookie(new Cookie("session", "secret"));
            response.setStatus(204);
        });
        for (boolean replay : List.of(false, true)) {
            HttpResponse<String> response = post();
            assertThat(response.statusCode()).isEqualTo(204);
            assertThat(response.headers().allValues("Access-Control-Allow-Origin"))
                    .containsExactly("https://example.org");
            assertThat(response.headers().firstValue("Set-Cookie").isPresent()).isEqualTo(!replay);
        }
    }

    /** What is behind a filter cannot run twice for one request, so the client is asked to come again. */
    @Test
    void transactionThatGaveWayLeavesNothingOfItsAnswer() throws Exception {
        serve(List.of(new IdempotencyKeyFilter(KEY, new TriesTwice(commands))), (request, response) -> {
            response.addCookie(new Cookie("session", "secret"));
            response.setHeader("Location", "/payments/7");
            response.getWriter().print("paid");
        });
        HttpResponse<String> response = post();
        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.body()).contains("transaction-conflict").doesNotContain("paid");
        assertThat(response.headers().firstValue("Retry-After")).isPresent();
        assertThat(response.headers().firstValue("Set-Cookie")).isEmpty();
        assertThat(response.headers().firstValue("Location")).isEmpty();
        assertThat(response.headers().firstValue("Access-Control-Allow-Origin")).isPresent();
        assertThat(runs).hasValue(1);
    }

    /** Commands whose first transaction is always chosen to give way. */
    private record TriesTwice(Commands commands) implements Commands {

        @Override
        public <R, X extends Exception> CommandResult<R> run(Command<R> command, CommandWork<R, X> work) throws X {
            List<Object> tries = new ArrayList<>();
            return commands.<R, X>run(command, transaction -> {
                tries.add(transaction);
                R lost = work.run(transaction);
                if (tries.size() == 1) {
                    work.run(transaction);
                }
                throw new TransactionConflictException(new SQLException("after " + lost, "40001"));
            });
        }

        @Override
        public <R, X extends Exception> CommandResult<R> join(
                Connection connection, Command<R> command, CommandWork<R, X> work) throws X {
            return commands.join(connection, command, work);
        }

        @Override
        public <R, X extends Exception> CommandResult<R> lease(Command<R> command, LeasedWork<R, X> work) throws X {
            return commands.lease(command, work);
        }
    }
}
