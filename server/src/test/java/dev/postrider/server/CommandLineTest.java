package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CommandLineTest {

    /** Port 1 is one where nothing listens. */
    private static final String DEAD = "jdbc:postgresql://localhost:1/nothing";

    @Test
    void helpNamesEveryCommandAndExitCode() {
        Cli help = Cli.run("--help");

        assertThat(help.exitCode()).isZero();
        assertThat(help.out())
                .contains("demo", "run", "migrate", "status", "replay", "doctor", "  0 ", "  4 ", "  9 ", "  10 ");
        assertThat(help.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "demo",
                "run",
                "migrate",
                "status",
                "list",
                "show",
                "tail",
                "failures",
                "replay",
                "retry",
                "park",
                "bury",
                "discard",
                "pause",
                "resume",
                "topics",
                "topics remove",
                "blocked-keys",
                "lanes",
                "nodes",
                "commands",
                "commands show",
                "commands resolve",
                "audit",
                "purge",
                "doctor",
                "schema",
                "schema print",
                "schema status",
                "schema migrate",
                "completion"
            })
    void eachCommandHasHelp(String command) {
        Cli help = Cli.run((command + " --help").split(" "));

        assertThat(help.exitCode()).isZero();
        assertThat(help.out()).startsWith("Usage: postrider " + command);
    }

    @Test
    void versionIsPrinted() {
        Cli version = Cli.run("--version");

        assertThat(version.exitCode()).isZero();
        assertThat(version.out()).startsWith("postrider ");
    }

    @Test
    void nothingGivenShowsTheUsageAsAnError() {
        Cli nothing = Cli.run();

        assertThat(nothing.exitCode()).isEqualTo(2);
        assertThat(nothing.err()).startsWith("Usage: postrider");
        assertThat(nothing.out()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            statis                                     | status
            run                                        | --config
            status                                     | --db
            status --output xml                        | --output
            status --db jdbc:postgresql:x --config y   | y
            demo --seconds 0                           | --seconds
            demo --seconds x                           | --seconds
            demo --rate 0                              | --rate
            demo --rate 1001                           | --rate
            migrate --db postgresql://localhost/shop   | jdbc:postgresql://
            migrate --db jdbc:oracle:thin:@h           | CLASSPATH
            migrate --db jdbc:h2:mem:x                 | CLASSPATH
            migrate --db jdbc:mysql://h/shop           | jdbc:mariadb:
            migrate --db jdbc:mysql://h/shop           | CLASSPATH
            migrate --db x --table-prefix Shop         | table-prefix
            migrate --db x --schema a.b                | schema
            status --db x --password-env NOT_SET_HERE  | NOT_SET_HERE
            status --db x --password-file /not/there   | --password-file
            status --db x --password-file a --password-env b | keep one
            run --config /not/there                    | /not/there
            list --db x --state deed                   | pending, scheduled
            list --db x --state dead,x                 | --state
            list --db x --limit 0                      | --limit
            list --db x --limit 10001                  | --limit
            list --db x --min-attempts 0               | attempts
            list --db x --min-attempts many            | --min-attempts
            list --db x --older-than 20                | --older-than
            list --db x --since yesterday              | --since
            list --db x --created-from today           | --created-from
            list --db x --since 1h --created-from 2026-01-01 | keep one
            list --db x --older-than 1h --created-to 2026-01-01 | keep one
            list --db x --created-from 2026-02-01 --created-to 2026-01-01 | created
            list --db x --due-from 2026-02-01 --due-to 2026-01-01 | due
            list --db x --delivered-to 1969-01-01      | delivered
            list --db x --topic a/b/c                  | topic
            list --db x --output yaml                  | --output
            show --db x                                | ID
            show --db x 17                             | UUID
            tail --db x --interval 5ms                 | --interval
            tail --db x --lines 501                    | --lines
            tail --db x --limit 0                      | --limit
            failures --db x --limit 1001               | --limit
            replay --db x                              | --state dead
            replay --db x 17                           | UUID
            replay --db x 0197f3a1-0000-7000-8000-000000000000 --topic orders | keep one
            replay --db x --topic orders --limit 0     | --limit
            discard --db x 0197f3a1-0000-7000-8000-000000000000 | --yes
            pause --db x orders                        | --yes
            pause --db x                               | TOPIC
            resume --db x a/b/c                        | topic
            topics remove --db x orders                | --yes
            lanes --db x                               | TOPIC
            blocked-keys --db x orders --limit 0       | --limit
            audit --db x --before now                  | --before
            commands --db x --state done               | --state
            commands show --db x 17                    | UUID
            commands resolve --db x 0197f3a1-0000-7000-8000-000000000000 | --as
            commands resolve --db x 0197f3a1-0000-7000-8000-000000000000 --as done | released
            commands resolve --db x 0197f3a1-0000-7000-8000-000000000000 --as failed | --yes
            purge --db x                               | --archive-retention
            purge --db x --dead-retention 0s --yes     | --dead-retention
            purge --db x --dead-retention 1d           | --yes
            purge --db x --commands --limit 0 --yes    | --limit
            doctor --db x --transaction-age long       | --transaction-age
            schema --db x                              | --db
            schema                                     | print, status or migrate
            schema print                               | --db
            completion fish                            | SHELL
            list                                       | --db
            """)
    void badUsageExitsWithTwoAndSaysWhatToDo(String arguments, String named) {
        Cli result = Cli.run(arguments.split(" "));

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).startsWith("postrider: ").contains(named).doesNotContain("\tat ");
        assertThat(result.out()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            status --password hunter2                | --password-env
            status --password=hunter2                | --password-env
            status --db jdbc:x --pass hunter2        | --password-env
            status -phunter2                         | --password-env
            status -p hunter2                        | --password-env
            status --secret hunter2 --db jdbc:x      | --secret
            --password hunter2 status                | --password
            """)
    void valueOfAnUnknownOptionIsNotPrinted(String arguments, String named) {
        Cli result = Cli.run(arguments.split(" "));

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains(named).doesNotContain("hunter2");
    }

    @Test
    void aConfigurationFileAndOptionsForTheDatabaseDoNotGoTogether(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(
                directory.resolve("relay.properties"), "db.url=" + DEAD + "\ntopic.orders.url=https://shop.example\n");

        Cli result = Cli.run("status", "--config", file.toString(), "--schema", "x");

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("--config");
    }

    @ParameterizedTest
    @ValueSource(strings = {"migrate", "status"})
    void unreachableDatabaseExitsWithThreeInOneLine(String command) {
        Cli result = Cli.run(command, "--db", DEAD, "--user", "relay");

        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.err().strip().lines())
                .singleElement()
                .asString()
                .startsWith("postrider: The database jdbc:postgresql://localhost:1/nothing as relay cannot be reached");
    }

    @Test
    void verboseShowsWhereItHappened() {
        Cli result = Cli.run("status", "--db", DEAD, "--verbose");

        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.err()).contains("\tat ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://localhost:1/x?user=a&password=hunter2",
                "jdbc:postgresql://a:hunter2@localhost:1/x",
                "jdbc:postgresql://a:hun@hunter2@localhost:1/x",
                "jdbc:mariadb://localhost:1/x?password=hunter2&user=a",
                "jdbc:mysql://a:hunter2@localhost:1/x",
                "jdbc:sqlserver://localhost:1;password=hunter2;user=a",
                "postgresql://a:hunter2@localhost/x",
                "jdbc:postgresql://localhost:1/x?user=a&password=hunt;hunter2",
                "jdbc:postgresql://localhost:1/x?user=a&password=hunt@hunter2",
                "jdbc:postgresql://a:hun/hunter2@localhost:1/x",
                "jdbc:postgresql://a:hun?hunter2@localhost:1/x",
                "jdbc:postgresql://a:1?hunter2@localhost:1/x",
                "jdbc:mariadb://a:hun;hunter2@localhost:1/x",
                "jdbc:h2:tcp://localhost:1/x;PASSWORD=hun hunter2"
            })
    void noSecretOfTheUrlIsPrinted(String url) {
        Cli result = Cli.run("status", "--db", url);

        assertThat(result.exitCode()).isBetween(2, 3);
        assertThat(result.out() + result.err()).doesNotContain("hunter2").contains("***");
        assertThat(Cli.run("status", "--verbose", "--db", url).err()).doesNotContain("hunter2");
    }
}
