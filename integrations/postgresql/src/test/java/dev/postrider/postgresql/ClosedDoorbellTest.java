package dev.postrider.postgresql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.dispatch.Doorbell;
import dev.postrider.dispatch.Doorbell.Ring;
import dev.postrider.error.StoreUnavailableException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

/** Closing waits for no thread, and no connection stays open, whatever the doorbell does at that moment. Without a server. */
final class ClosedDoorbellTest {

    private static final PostgresDoorbell.Timing TIMING =
            new PostgresDoorbell.Timing(Duration.ofSeconds(60), Duration.ofSeconds(60), Duration.ofMillis(1));

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Connections connections = new Connections();
    private final Doorbell.Line line = new PostgresDoorbell(connections, TIMING).open("postrider_doorbell");

    /** A server that can let connecting, or any statement, hang. */
    private static final class Connections extends OnlyConnections {

        final CountDownLatch connecting = new CountDownLatch(1);
        final CountDownLatch connect = new CountDownLatch(1);
        final CountDownLatch working = new CountDownLatch(1);
        final List<FakeConnection> all = new CopyOnWriteArrayList<>();
        volatile boolean hangs;

        @Override
        public Connection getConnection() throws SQLException {
            connecting.countDown();
            await(connect);
            FakeConnection connection = new FakeConnection(this);
            all.add(connection);
            return connection.proxy();
        }

        boolean areClosed() {
            return all.stream().allMatch(connection -> connection.closed.get() > 0);
        }
    }

    private static final class FakeConnection {

        final AtomicInteger closed = new AtomicInteger();
        final CountDownLatch aborted = new CountDownLatch(1);
        private final Connections server;

        FakeConnection(Connections server) {
            this.server = server;
        }

        Connection proxy() {
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {Connection.class, PGConnection.class},
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "unwrap" -> proxy;
                        case "createStatement" -> statement(Statement.class);
                        case "prepareStatement" -> statement(PreparedStatement.class);
                        case "getNotifications" -> work(null);
                        case "getNetworkTimeout" -> 0;
                        case "abort" -> {
                            aborted.countDown();
                            yield null;
                        }
                        case "close" -> {
                            closed.incrementAndGet();
                            yield null;
                        }
                        default -> null;
                    });
        }

        private Object statement(Class<?> type) {
            return Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {type},
                    (proxy, method, arguments) -> method.getName().equals("execute") ? work(true) : null);
        }

        private @Nullable Object work(@Nullable Object answer) throws SQLException {
            if (aborted.getCount() == 0) {
                throw new SQLException("This connection has been closed", "08003");
            }
            if (server.hangs) {
                server.working.countDown();
                await(aborted);
                throw new SQLException("An I/O error occurred", "08006");
            }
            return answer;
        }
    }

    private static void await(CountDownLatch latch) throws SQLException {
        try {
            if (!latch.await(120, SECONDS)) {
                throw new SQLException("hung for two minutes", "08006");
            }
        } catch (InterruptedException e) {
            throw new SQLException("interrupted", "08006");
        }
    }

    @AfterEach
    void stop() {
        connections.connect.countDown();
        threads.shutdownNow();
    }

    @Test
    void listenerThatIsStillConnectingLeavesNoConnectionOpen() throws Exception {
        Future<?> listening = threads.submit(() -> line.listen(Duration.ofMillis(1)));
        assertThat(connections.connecting.await(60, SECONDS)).isTrue();

        closeSoon();
        connections.connect.countDown();

        listening.get(60, SECONDS);
        assertThat(connections.all).hasSize(1);
        assertThat(connections.areClosed()).isTrue();
        line.listen(Duration.ofMillis(1));
        assertThat(connections.all).as("nothing is opened any more").hasSize(1);
    }

    @Test
    void ringThatIsStillConnectingLeavesNoConnectionOpen() throws Exception {
        Future<?> ringing = threads.submit(() -> line.ring(Ring.ANYWHERE));
        assertThat(connections.connecting.await(60, SECONDS)).isTrue();

        closeSoon();
        connections.connect.countDown();

        assertThatThrownBy(() -> ringing.get(60, SECONDS)).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThat(connections.all).hasSize(1);
        assertThat(connections.areClosed()).isTrue();
    }

    @Test
    void ringThatHangsIsCutOff() throws Exception {
        connections.connect.countDown();
        connections.hangs = true;
        Future<?> ringing = threads.submit(() -> line.ring(Ring.ANYWHERE));
        assertThat(connections.working.await(60, SECONDS)).isTrue();

        closeSoon();

        assertThatThrownBy(() -> ringing.get(60, SECONDS)).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThat(connections.all).hasSize(1);
        assertThat(connections.areClosed()).isTrue();
    }

    @Test
    void listenerThatHangsIsCutOff() throws Exception {
        connections.connect.countDown();
        line.listen(Duration.ofMillis(1));
        connections.hangs = true;
        Future<?> listening = threads.submit(() -> line.listen(Duration.ofMillis(1)));
        assertThat(connections.working.await(60, SECONDS)).isTrue();

        closeSoon();

        listening.get(60, SECONDS);
        assertThat(connections.all).as("one to listen, one to ring").hasSize(2);
        assertThat(connections.areClosed()).isTrue();
    }

    @Test
    void quietConnectionsAreGivenBackUnharmed() throws Exception {
        connections.connect.countDown();
        line.listen(Duration.ofMillis(1));
        line.ring(Ring.ANYWHERE);

        closeSoon();

        assertThat(connections.all).hasSize(2);
        assertThat(connections.areClosed()).isTrue();
        assertThat(connections.all).allMatch(connection -> connection.aborted.getCount() == 1);
    }

    private void closeSoon() throws Exception {
        threads.submit(line::close).get(60, SECONDS);
    }
}
