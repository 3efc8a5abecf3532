package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DatabaseCommandsTest {

    private final Databases.Empty database = Databases.create();

    private Cli run(String command, String... more) {
        String[] arguments = new String[more.length + 5];
        System.arraycopy(new String[] {command, "--db", database.url(), "--user", "postgres"}, 0, arguments, 0, 5);
        System.arraycopy(more, 0, arguments, 5, more.length);
        return Cli.run(arguments);
    }

    @Test
    void migrateBringsTheTablesInAndSaysSoOnce() {
        assertThat(run("migrate"))
                .isEqualTo(new Cli(0, line("The tables are up to date now: applied 3 versions."), ""));
        assertThat(run("migrate")).isEqualTo(new Cli(0, line("The tables were up to date."), ""));
        assertThat(run("status").exitCode()).isZero();
    }

    private static String line(String text) {
        return text + System.lineSeparator();
    }

    @Test
    void dryRunPrintsSqlThatBringsTheTablesInAndChangesNothing() throws Exception {
        Cli dryRun = run("migrate", "--dry-run");

        assertThat(dryRun.exitCode()).isZero();
        assertThat(run("status").exitCode()).isEqualTo(4);
        database.execute(dryRun.out());
        assertThat(run("status").exitCode()).isZero();
    }

    @Test
    void schemaAndPrefixAreHonoured() throws Exception {
        database.execute("CREATE SCHEMA messaging");

        assertThat(run("migrate", "--schema", "messaging", "--table-prefix", "box_")
                        .exitCode())
                .isZero();
        assertThat(run("status", "--schema", "messaging", "--table-prefix", "box_")
                        .exitCode())
                .isZero();
        assertThat(run("status").exitCode()).isEqualTo(4);
    }

    @Test
    void missingTablesExitWithFourAndNameTheCommand() {
        Cli status = run("status");

        assertThat(status.exitCode()).isEqualTo(4);
        assertThat(status.err().strip().lines()).singleElement().asString().contains("postrider migrate");
    }

    @Test
    void adviceForTablesElsewhereLeadsToThoseTables() throws Exception {
        database.execute("CREATE SCHEMA messaging");

        Cli status = run("status", "--schema", "messaging", "--table-prefix", "box_");

        assertThat(status.exitCode()).isEqualTo(4);
        assertThat(status.err()).contains("`postrider migrate --db <jdbc url> --schema messaging --table-prefix box_`");
    }

    @Test
    void changedTablesExitWithFourEvenAfterMigrating() throws Exception {
        run("migrate");
        database.execute("ALTER TABLE postrider_message DROP COLUMN payload CASCADE");

        Cli migrate = run("migrate");

        assertThat(migrate.exitCode()).isEqualTo(4);
        assertThat(migrate.err()).contains("payload");
    }

    @Test
    void unknownDatabaseExitsWithThree() {
        Cli status = Cli.run("status", "--db", database.url() + "_not", "--user", "postgres");

        assertThat(status.exitCode()).isEqualTo(3);
        assertThat(status.err()).contains("refuses the login");
    }

    @Test
    void statusShowsEachTopicForPeopleAndForPrograms() {
        assertThat(run("migrate").exitCode()).isZero();
        assertThat(run("status").out()).contains("No topics");
        assertThat(run("status", "--output", "json").out().strip()).isEqualTo("{\"topics\":[]}");
        Postrider postrider = Postrider.on(database.dataSource())
                .topic("orders")
                .topic("shop/returns")
                .build();
        postrider.register();
        postrider.inTransaction(work ->
                work.stage(Message.to("orders").type("order.placed").json("{}").build()));

        String table = run("status").out();
        String json = run("status", "--output", "json").out();

        assertThat(table.lines().map(line -> line.replaceAll(" +", " ")).toList())
                .hasSize(3)
                .satisfies(lines -> {
                    assertThat(lines.get(0))
                            .isEqualTo("TOPIC STATE WAITING SCHEDULED RETRYING PROCESSING BLOCKED PARKED DEAD OLDEST");
                    assertThat(lines.get(1)).matches("orders no-node 1 0 0 0 0 0 0 [0-9]+\\.[0-9]s");
                    assertThat(lines.get(2)).isEqualTo("shop/returns no-node 0 0 0 0 0 0 0 -");
                });
        assertThat(json)
                .contains(
                        "{\"topic\":\"orders\",\"paused\":false,\"nodes\":0,\"waiting\":1,\"scheduled\":0,\"retrying\":0,")
                .contains("{\"topic\":\"shop/returns\",");
    }

    @Test
    void theRelaysFileCanNameTheDatabase(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(
                directory.resolve("relay.properties"),
                "db.url=" + database.url()
                        + "\ndb.user=postgres\ntable-prefix=box_\ntopic.orders.url=https://shop.example\n");

        assertThat(Cli.run("migrate", "--config", file.toString()).exitCode()).isZero();
        assertThat(run("status", "--table-prefix", "box_").exitCode()).isZero();
    }
}
