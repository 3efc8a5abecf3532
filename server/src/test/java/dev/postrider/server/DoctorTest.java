package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.message.Message;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** The doctor as a command. The checks of the database itself have their tests on every database. */
final class DoctorTest {

    private final Databases.Empty database = Databases.create();

    private Cli doctor(String... more) {
        String[] all = new String[more.length + 5];
        System.arraycopy(new String[] {"doctor", "--db", database.url(), "--user", "postgres"}, 0, all, 0, 5);
        System.arraycopy(more, 0, all, 5, more.length);
        return Cli.run(all);
    }

    private Postrider migrated() {
        Postrider postrider = Postrider.on(database.dataSource())
                .topic(
                        "orders",
                        topic -> topic.maxAttempts(1).deliver(delivery -> {
                            throw new IllegalStateException("no");
                        }))
                .topic(
                        "stock",
                        topic -> topic.ordered().onFailure(FailurePolicy.PARK).deliver(delivery -> {
                            throw new IllegalStateException("no");
                        }))
                .build();
        postrider.migrate();
        return postrider;
    }

    private static void write(Postrider postrider, String topic) {
        postrider.inTransaction(work ->
                work.stage(Message.to(topic).type("thing").key("a").json("{}").build()));
    }

    @Test
    void missingTablesAreAnErrorWithTheCommandThatCreatesThem() {
        Cli doctor = doctor();

        assertThat(doctor.exitCode()).isEqualTo(10);
        assertThat(doctor.out()).contains("There are no tables of Postrider", "fix: postrider schema migrate");
    }

    @Test
    void settingsThatMayLoseCommitsAreNamedWithTheirFix() throws SQLException {
        migrated().close();
        database.execute("ALTER DATABASE " + database.name() + " SET synchronous_commit = off");

        Cli doctor = doctor();

        assertThat(doctor.out())
                .contains(
                        "synchronous_commit is off",
                        "ALTER DATABASE " + database.name() + " SET synchronous_commit = on;");
        assertThat(doctor.exitCode())
                .as("the servers of tests do not wait for the disk")
                .isEqualTo(10);
    }

    @Test
    void topicsThatNeedAnOperatorAreNamedWithTheCommandThatHelps() {
        try (Postrider postrider = migrated()) {
            write(postrider, "orders");
            write(postrider, "stock");
            write(postrider, "stock");
            postrider.deliverDue();
            postrider.admin().pause("stock", "ann");
            write(postrider, "orders");
        }

        Cli doctor = doctor();
        Cli json = doctor("--output", "json");

        assertThat(doctor.out())
                .contains(
                        "fix: postrider failures --topic orders; postrider replay --topic orders --state dead",
                        "orders has 1 message to deliver and no live node delivers it",
                        "fix: postrider resume stock",
                        "fix: postrider blocked-keys stock",
                        "The clocks of this computer and of the database agree.");
        assertThat(json.out())
                .startsWith("{\"items\":[{\"severity\":\"error\",\"check\":\"")
                .contains("\"worst\":\"error\"", "\"fix\":\"postrider resume stock\"");
        assertThat(doctor("--output", "ndjson").out().lines()).allMatch(line -> line.startsWith("{\"severity\":"));
    }

    @Test
    void nodeOnADatabaseInWhichNothingIsWrittenIsNamed() {
        try (Postrider postrider = migrated()) {
            postrider.start();

            assertThat(doctor().out()).contains("in which no message was ever written");

            write(postrider, "orders");
            assertThat(doctor().out()).contains("1 live node.").doesNotContain("was ever written");
        }
    }

    @Test
    void missingPrivilegeIsNamedWithItsGrant() throws SQLException {
        migrated().close();
        String user = "u_" + database.name();
        database.execute("CREATE ROLE " + user + " LOGIN");
        database.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + user);
        database.execute("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO " + user);
        database.execute("REVOKE INSERT ON postrider_audit FROM " + user);

        Cli doctor = Cli.run("doctor", "--db", database.url(), "--user", user);

        assertThat(doctor.exitCode()).isEqualTo(10);
        assertThat(doctor.out()).contains("lacks INSERT on ", "fix: GRANT INSERT ON ");
    }
}
