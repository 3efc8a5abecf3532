package dev.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** With a server that answers every line with the same line. */
final class FaultyProxyTest {

    private final ServerSocket server = listen();
    private final Queue<String> received = new ConcurrentLinkedQueue<>();
    private final FaultyProxy proxy = FaultyProxy.before("jdbc:echo://127.0.0.1:" + server.getLocalPort() + "/db");

    FaultyProxyTest() {
        start(() -> {
            while (true) {
                Socket client = server.accept();
                start(() -> echo(client));
            }
        });
    }

    @AfterEach
    void close() throws IOException {
        proxy.close();
        server.close();
    }

    @Test
    void addressIsTheServersWithThePortOfTheProxy() {
        assertThat(proxy.jdbcUrl()).isEqualTo("jdbc:echo://127.0.0.1:" + proxy.port() + "/db");
        assertThat(proxy.port()).isNotEqualTo(server.getLocalPort());
    }

    @Test
    void passesRequestsAndAnswersOn() throws IOException {
        try (Client client = new Client()) {
            assertThat(client.ask("one")).isEqualTo("one");
            assertThat(client.ask("two")).isEqualTo("two");
        }
    }

    @Test
    void cutEndsOpenConnectionsAndNewOnesWork() throws IOException {
        try (Client first = new Client();
                Client second = new Client()) {
            first.ask("one");
            second.ask("two");

            assertThat(proxy.cut()).isEqualTo(2);

            assertThat(first.ask("lost")).isNull();
            assertThat(second.ask("lost")).isNull();
        }
        try (Client third = new Client()) {
            assertThat(third.ask("three")).isEqualTo("three");
        }
    }

    @Test
    void refusingHangsUpOnNewConnectionsOnly() throws IOException {
        try (Client open = new Client()) {
            open.ask("one");
            proxy.refuse();
            try (Client refused = new Client()) {
                assertThat(refused.ask("two")).isNull();
            }
            assertThat(open.ask("three")).isEqualTo("three");
            proxy.accept();
            try (Client accepted = new Client()) {
                assertThat(accepted.ask("four")).isEqualTo("four");
            }
        }
        assertThat(received).containsExactly("one", "three", "four");
    }

    @Test
    void lostAnswerIsToARequestThatReachedTheServer() throws Exception {
        try (Client client = new Client();
                Client other = new Client()) {
            Future<Integer> lost = proxy.loseAnswerTo("UPDATE");
            assertThat(client.ask("select")).isEqualTo("select");

            assertThat(client.ask("an UPDATE of something")).isNull();

            assertThat(lost.get(60, TimeUnit.SECONDS)).isPositive();
            assertThat(received).contains("an UPDATE of something");
            assertThat(other.ask("UPDATE again")).isEqualTo("UPDATE again");
        }
    }

    @Test
    void severalTextsAreWaitedForOnOneConnection() throws Exception {
        try (Client client = new Client();
                Client other = new Client()) {
            Future<Integer> lost = proxy.loseAnswerTo("UPDATE", "COMMIT");
            assertThat(client.ask("COMMIT")).isEqualTo("COMMIT");
            assertThat(client.ask("UPDATE")).isEqualTo("UPDATE");
            assertThat(other.ask("COMMIT")).isEqualTo("COMMIT");

            assertThat(lost.isDone()).isFalse();
            assertThat(client.ask("COMMIT")).isNull();
            assertThat(lost.get(60, TimeUnit.SECONDS)).isPositive();
        }
    }

    @Test
    void textIsFoundInTwoPieces() throws Exception {
        try (Client client = new Client()) {
            Future<Integer> lost = proxy.loseAnswerTo("COMMIT");
            client.send("COM");
            client.send("MIT\n");

            assertThat(client.answer()).isNull();
            assertThat(lost.get(60, TimeUnit.SECONDS)).isPositive();
        }
    }

    @Test
    void emptyTextIsAnyRequest() throws Exception {
        try (Client client = new Client()) {
            Future<Integer> lost = proxy.loseAnswerTo("");

            assertThat(client.ask("whatever")).isNull();
            assertThat(lost.get(60, TimeUnit.SECONDS)).isPositive();
            assertThat(received).containsExactly("whatever");
        }
    }

    @Test
    void answerThatWasToBeLostIsNotAfterAll() throws IOException {
        try (Client client = new Client()) {
            Future<Integer> lost = proxy.loseAnswerTo("UPDATE");
            proxy.loseNothing();

            assertThat(client.ask("UPDATE")).isEqualTo("UPDATE");
            assertThat(lost).isNotDone();
        }
    }

    @Test
    void delayedRequestsAndAnswersTakeThatMuchLonger() throws IOException {
        try (Client client = new Client()) {
            client.ask("quick");
            proxy.delay(Duration.ofMillis(60));
            long start = System.nanoTime();

            assertThat(client.ask("slow")).isEqualTo("slow");

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(120));
            proxy.delay(Duration.ZERO);
            assertThat(client.ask("quick again")).isEqualTo("quick again");
        }
    }

    @Test
    void frozenConnectionIsOpenAndDeadUntilItThaws() throws IOException {
        try (Client client = new Client()) {
            client.ask("before");
            proxy.freeze();
            client.send("during\n");
            client.patience(100);

            assertThatThrownBy(client::answer).isInstanceOf(SocketTimeoutException.class);
            assertThat(received).containsExactly("before");

            proxy.thaw();
            client.patience(60_000);
            assertThat(client.answer()).isEqualTo("during");
        }
    }

    @Test
    void frozenConnectionThatIsCutPassesNothingOn() throws IOException {
        try (Client client = new Client()) {
            client.ask("before");
            proxy.freeze();
            client.send("during\n");
            try (Client late = new Client()) {
                late.send("too late\n");
                late.patience(100);
                assertThatThrownBy(late::answer).isInstanceOf(SocketTimeoutException.class);

                assertThat(proxy.cut()).isEqualTo(2);
                proxy.thaw();

                late.patience(60_000);
                assertThat(late.ask("again")).isNull();
                assertThat(client.ask("again")).isNull();
            }
        }
        try (Client after = new Client()) {
            assertThat(after.ask("after")).isEqualTo("after");
        }
        assertThat(received).containsExactly("before", "after");
    }

    @Test
    void swallowedConnectionIsNeverAnsweredNotEvenAfterwards() throws IOException {
        try (Client open = new Client()) {
            open.ask("open");
            proxy.swallow();
            try (Client swallowed = new Client()) {
                swallowed.send("swallowed\n");
                swallowed.patience(100);
                assertThatThrownBy(swallowed::answer).isInstanceOf(SocketTimeoutException.class);
                assertThat(proxy.swallowed()).isEqualTo(1);
                assertThat(open.ask("still open")).isEqualTo("still open");

                proxy.accept();

                try (Client after = new Client()) {
                    assertThat(after.ask("after")).isEqualTo("after");
                }
                assertThatThrownBy(swallowed::answer).isInstanceOf(SocketTimeoutException.class);
            }
        }
        assertThat(received).containsExactly("open", "still open", "after");
    }

    /** Asks and is answered, or hears that there will be no answer. */
    private final class Client implements AutoCloseable {

        private final Socket socket = new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), proxy.port());
        private final BufferedReader answers =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));

        Client() throws IOException {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(60_000);
        }

        @Nullable
        String ask(String line) {
            try {
                send(line + "\n");
                return answer();
            } catch (IOException e) {
                return null;
            }
        }

        void patience(int millis) throws IOException {
            socket.setSoTimeout(millis);
        }

        void send(String text) throws IOException {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        }

        @Nullable
        String answer() throws IOException {
            return answers.readLine();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private boolean echo(Socket client) throws IOException {
        try (client;
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                received.add(line);
                client.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            }
            return true;
        }
    }

    private static ServerSocket listen() {
        try {
            return new ServerSocket(0, 50, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void start(java.util.concurrent.Callable<Boolean> work) {
        Thread thread = new Thread(() -> {
            try {
                work.call();
            } catch (Exception e) {
                // the socket was closed
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
