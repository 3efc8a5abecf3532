package dev.postrider.testkit.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Crash, restart and end of servers that a test has for itself. */
final class ServerLifeTest {

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void committedRowsSurviveACrash(Engine engine) throws SQLException {
        try (DatabaseServer server = Databases.startOrAbort(engine)) {
            DataSource database = server.createDatabase("letters").dataSource();
            Sql.execute(database, "CREATE TABLE letter (id INT PRIMARY KEY)");
            try (Connection connection = database.getConnection();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.execute("INSERT INTO letter VALUES (1)");
                connection.commit();
                statement.execute("INSERT INTO letter VALUES (2)");
                server.crash();
                assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
            }

            server.restart();

            assertThat(Sql.query(database, "SELECT id FROM letter")).containsExactly("1");
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void everyProcessOfACrashedServerIsGone(Engine engine) throws SQLException {
        try (DatabaseServer server = Databases.startOrAbort(engine);
                Connection connection = server.dataSource().getConnection()) {
            assertThat(connection.isValid(30)).isTrue();
            List<ProcessHandle> processes = processes(server);

            server.crash();

            assertThat(processes).isNotEmpty().noneMatch(ServerProcess::isRunning);
            assertThatExceptionOfType(SQLException.class)
                    .isThrownBy(() -> server.dataSource().getConnection());
        }
    }

    @Test
    void serverThatIsKilledWhileClientsConnectStartsAgain() throws Exception {
        try (DatabaseServer server = Databases.startOrAbort(Engine.POSTGRESQL_18)) {
            AtomicBoolean over = new AtomicBoolean();
            List<Thread> clients = Stream.generate(() -> new Thread(() -> {
                        while (!over.get()) {
                            connect(server);
                        }
                    }))
                    .limit(4)
                    .toList();
            clients.forEach(Thread::start);
            try {
                for (int i = 0; i < 5; i++) {
                    server.crash();
                    server.restart();
                    assertThat(Sql.query(server.dataSource(), "SELECT 1")).containsExactly("1");
                }
            } finally {
                over.set(true);
                for (Thread client : clients) {
                    client.join();
                }
            }
        }
    }

    private static void connect(DatabaseServer server) {
        try (Connection connection = server.dataSource().getConnection()) {
            connection.isValid(1);
        } catch (SQLException e) {
            Thread.onSpinWait(); // the server is down, or full
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void restartComesBackAtTheSameAddressAsANewProcess(Engine engine) throws SQLException {
        try (DatabaseServer server = Databases.startOrAbort(engine)) {
            String url = server.jdbcUrl();
            long pid = server.pid();

            server.restart();

            assertThat(server.jdbcUrl()).isEqualTo(url);
            assertThat(server.pid()).isNotEqualTo(pid);
            assertThat(Sql.query(server.dataSource(), "SELECT 1")).containsExactly("1");
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void closeLeavesNoProcess(Engine engine) throws SQLException {
        List<ProcessHandle> processes;
        DatabaseServer server = Databases.startOrAbort(engine);
        try (server;
                Connection connection = server.dataSource().getConnection()) {
            assertThat(connection.isValid(30)).isTrue();
            processes = processes(server);
            server.close();
        }

        assertThat(processes).isNotEmpty().noneMatch(ServerProcess::isRunning);
        assertThatIllegalStateException().isThrownBy(server::crash).withMessageContaining("is closed");
        assertThatIllegalStateException().isThrownBy(server::restart).withMessageContaining("is closed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"exited", "killed"})
    void serverEndsWithItsJvm(String end) throws IOException {
        Databases.assumeStarted(Engine.POSTGRESQL_18);
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-D" + EngineDirectory.PROPERTY + "=" + EngineDirectory.path(),
                        ServerInAJvm.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader output = jvm.inputReader()) {
            ProcessHandle server =
                    ProcessHandle.of(Long.parseLong(output.readLine())).orElseThrow();
            assertThat(ServerProcess.isRunning(server)).isTrue();

            if (end.equals("killed")) {
                jvm.destroyForcibly();
            } else {
                jvm.getOutputStream().close();
            }

            ServerProcess.awaitEnd(List.of(jvm.toHandle(), server));
        } finally {
            jvm.destroyForcibly();
        }
    }

    @Test
    void h2SaysThatItCannotCrash() {
        assertThat(Stream.of(Engine.values()).filter(engine -> !engine.isCrashable()))
                .containsExactly(Engine.H2);
        try (DatabaseServer server = Databases.start(Engine.H2)) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(server::crash)
                    .withMessageContaining("no process");
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(server::restart);
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(server::pid);
        }
    }

    @Test
    void closedH2ServerForgetsItsData() throws SQLException {
        Database database;
        try (DatabaseServer server = Databases.start(Engine.H2)) {
            database = server.createDatabase("letters");
            Sql.execute(database.dataSource(), "CREATE TABLE letter (id INT PRIMARY KEY)");
        }
        Sql.execute(database.dataSource(), "CREATE TABLE letter (id INT PRIMARY KEY)");
        Sql.execute(database.dataSource(), "SHUTDOWN");
    }

    private static List<ProcessHandle> processes(DatabaseServer server) {
        ProcessHandle main = ProcessHandle.of(server.pid()).orElseThrow();
        return Stream.concat(Stream.of(main), main.descendants()).toList();
    }
}
