package dev.postrider.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.testkit.database.Engine;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ArgumentsTest {

    private static final Path RUNS = Path.of("runs");
    private static final Set<FaultKind> ALL = EnumSet.allOf(FaultKind.class);

    @Test
    void withoutAnyThreeMinutesOnPostgres() {
        assertThat(Arguments.parse(List.of(), RUNS, 7))
                .isEqualTo(new Arguments(
                        false, 180, 7, Engine.POSTGRESQL_18, 180_000, Path.of("runs/postgresql-7"), ALL, true, null));
    }

    @Test
    void everyOptionIsHeard() {
        List<String> words = List.of(
                "--minutes",
                "0.5",
                "--seed",
                "9007199254740993",
                "--engine",
                "mariadb",
                "--messages",
                "100",
                "--directory",
                "d",
                "--no-faults",
                "--no-trouble",
                "--mutant",
                "retry-at-once");

        assertThat(Arguments.parse(words, RUNS, 7))
                .isEqualTo(new Arguments(
                        false,
                        30,
                        9007199254740993L,
                        Engine.MARIADB_11_4,
                        100,
                        Path.of("d"),
                        Set.of(),
                        false,
                        "retry-at-once"));
    }

    @Test
    void onlySomeFaultsCanBeAskedFor() {
        assertThat(Arguments.parse(List.of("--only", "cut,kill-worker"), RUNS, 7)
                        .faults())
                .containsExactlyInAnyOrder(FaultKind.CUT, FaultKind.KILL_WORKER);
    }

    @Test
    void standbysAreForPostgresOnly() {
        assertThat(Arguments.parse(List.of("--engine", "mysql"), RUNS, 7).faults())
                .contains(FaultKind.CRASH_DATABASE)
                .doesNotContain(FaultKind.PROMOTE_STANDBY);
        assertThatThrownBy(
                        () -> Arguments.parse(List.of("--only", "cut,promote-standby", "--engine", "mariadb"), RUNS, 7))
                .hasMessageContaining("promote-standby")
                .hasMessageContaining("postgresql");
    }

    @Test
    void whatMakesNoSenseIsNamed() {
        assertThatThrownBy(() -> Arguments.parse(List.of("--only", "earthquake"), RUNS, 7))
                .hasMessageContaining("earthquake")
                .hasMessageContaining("kill-worker");
        assertThatThrownBy(() -> Arguments.parse(List.of("--minute", "1"), RUNS, 7))
                .hasMessageContaining("--minute");
        assertThatThrownBy(() -> Arguments.parse(List.of("--minutes"), RUNS, 7)).hasMessageContaining("--minutes");
        assertThatThrownBy(() -> Arguments.parse(List.of("--minutes", "0"), RUNS, 7))
                .hasMessageContaining("--minutes");
        assertThatThrownBy(() -> Arguments.parse(List.of("--engine", "h2"), RUNS, 7))
                .hasMessageContaining("mariadb");
    }
}
