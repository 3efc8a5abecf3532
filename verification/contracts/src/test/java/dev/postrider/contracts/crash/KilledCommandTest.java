package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.idempotency.CommandResult;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Processes that die at every statement of a command, before it is sent and before its answer is heard, the commit among them. Then
 * another process retries: the effect is there once, with its one message, and the retry gets the result.
 */
final class KilledCommandTest {

    private static final int MOST_STATEMENTS = 30;

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({
        "POSTGRESQL_18, FENCED",
        "POSTGRESQL_18, JOIN",
        "POSTGRESQL_18, LEASED",
        "MYSQL_8_0, FENCED",
        "MYSQL_8_0, JOIN",
        "MYSQL_8_0, LEASED",
        "MARIADB_11_4, FENCED",
        "MARIADB_11_4, JOIN",
        "MARIADB_11_4, LEASED"
    })
    void killedAtEveryStatement(Engine engine, String mode) {
        Databases.assumeStarted(engine); // an engine that is left out is no failure of its cells
        AtomicInteger deaths = new AtomicInteger();
        Cells.run(List.of("before", "after"), when -> deaths.addAndGet(killedAtEvery(engine, mode, when)));
        assertThat(deaths.get()).isGreaterThanOrEqualTo(8);
    }

    /** Answers how many died. */
    private static int killedAtEvery(Engine engine, String mode, String when) throws Exception {
        try (Site site = Site.on(engine)) {
            site.execute("CREATE TABLE placed (id VARCHAR(50) NOT NULL)");
            Child child = site.commander("commander-0");
            for (int number = 1; number <= MOST_STATEMENTS; number++) {
                String key = mode + "-" + number + "-" + when;
                child.await("ready", 1);
                child.tell(String.join(" ", mode, key, Integer.toString(number), when));
                Child current = child;
                Await.until(
                        () -> "neither died nor survived: " + current,
                        () -> current.count("dies") + current.count("survived") > 0);
                if (child.count("dies") == 0) {
                    site.print("killed " + when + " every statement of a command, " + mode, (number - 1) + " deaths");
                    return number - 1;
                }
                child = site.commander("commander-" + number); // gets ready meanwhile
                assertOneEffect(site, mode, key);
            }
            throw new AssertionError("More statements than a command can have");
        }
    }

    private static void assertOneEffect(Site site, String mode, String key) throws Exception {
        // What a killed client left uncommitted is rolled back when the server notices, and only then is it gone.
        Await.until(() -> "open transactions", () -> site.openTransactions() == 0);
        boolean happened = site.count("SELECT COUNT(*) FROM placed WHERE id = '" + key + "'") == 1;
        site.execute("UPDATE postrider_command SET lease_until = created_at WHERE state = 'IN_PROGRESS'");
        String result = CommandProgram.run(site.postrider(), site.dataSource(), mode, key);
        long effects = site.count("SELECT COUNT(*) FROM placed WHERE id = '" + key + "'");
        if (mode.equals("LEASED")) {
            boolean uncertain = result.startsWith(CommandResult.Uncertain.class.getSimpleName());
            assertThat(uncertain ? happened ? 1 : 0 : 1L)
                    .as("%s: %s", key, result)
                    .isEqualTo(effects);
            assertThat(result).startsWith(uncertain ? "Uncertain" : "Completed");
            return;
        }
        assertThat(result).as(key).startsWith("Completed").contains("replayed=" + happened);
        assertThat(effects).as(key).isEqualTo(1);
        assertThat(site.count("SELECT COUNT(*) FROM postrider_message WHERE ordering_key = '" + key + "'"))
                .as("messages of %s", key)
                .isEqualTo(1);
    }
}
