package dev.postrider.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.dispatch.Doorbell;
import dev.postrider.testkit.FaultyProxy;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** A doorbell whose connects are accepted and never answered. */
final class UnansweredConnectTest {

    private static final Duration LIMIT = Duration.ofSeconds(90);

    private final Database database =
            Databases.assumeStarted(Engine.POSTGRESQL_18).createDatabase("unanswered");

    @Test
    void doorbellWorksAgainAfterConnectsThatWereNotAnswered() throws Exception {
        try (FaultyProxy proxy = FaultyProxy.before(database.jdbcUrl());
                Doorbell.Line line =
                        PostgresDoorbell.on(limited(proxy.jdbcUrl())).open("postrider_doorbell")) {
            listenUntilHeard(line);
            proxy.swallow();
            proxy.cut();
            for (int tries = 0; proxy.swallowed() < 2; tries++) {
                assertThat(tries).isLessThan(100);
                assertThat(line.listen(Duration.ofMillis(100)).ring()).isEmpty();
            }
            proxy.accept();

            listenUntilHeard(line);
        }
    }

    /** The driver ignores the login timeout of DriverManager: docs/wake-ups.md says to set this one. */
    private PGSimpleDataSource limited(String url) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(url);
        dataSource.setUser(database.user());
        dataSource.setPassword(database.password());
        dataSource.setLoginTimeout(2);
        return dataSource;
    }

    /** The first ring that a line hears is the echo of its own test. */
    private static void listenUntilHeard(Doorbell.Line line) {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (line.listen(Duration.ofMillis(100)).ring().isEmpty()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
        }
    }
}
