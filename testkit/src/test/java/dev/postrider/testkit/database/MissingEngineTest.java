package dev.postrider.testkit.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.opentest4j.TestAbortedException;

final class MissingEngineTest {

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final PrintStream notices = new PrintStream(printed, true, StandardCharsets.UTF_8);

    @Test
    void testIsAbortedAndTheEngineNamedOnce() {
        MissingEngines missing = new MissingEngines(Set.of(), false, notices);

        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(TestAbortedException.class)
                    .isThrownBy(() -> missing.orAbort(Engine.MYSQL_8_0, MissingEngineTest::fail));
        }

        assertThat(printed.toString(StandardCharsets.UTF_8))
                .isEqualToNormalizingNewlines("NOT RUN: MySQL 8.0: it is Monday; wait a day\n");
    }

    @Test
    void testFailsInCi() {
        MissingEngines missing = new MissingEngines(Set.of(), true, notices);

        assertThatExceptionOfType(DatabaseUnavailableException.class)
                .isThrownBy(() -> missing.orAbort(Engine.MYSQL_8_0, MissingEngineTest::fail))
                .withMessage("MySQL 8.0 cannot start here: it is Monday; wait a day");
        assertThat(printed.size()).isZero();
    }

    @Test
    void omittedEngineIsNotStartedAndFailsNothingInCi() {
        MissingEngines missing = new MissingEngines(Set.of(Engine.MYSQL_8_0), true, notices);

        assertThatExceptionOfType(TestAbortedException.class)
                .isThrownBy(() -> missing.orAbort(Engine.MYSQL_8_0, MissingEngineTest::fail));

        assertThat(printed.toString(StandardCharsets.UTF_8))
                .startsWith("NOT RUN: MySQL 8.0: ")
                .contains(MissingEngines.PROPERTY, "-Pfull")
                .hasLineCount(1);
    }

    @Test
    void failedStartIsNotRepeated() {
        AtomicInteger starts = new AtomicInteger();
        SharedServers servers = new SharedServers(engine -> {
            starts.incrementAndGet();
            return fail(engine);
        });

        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(DatabaseUnavailableException.class)
                    .isThrownBy(() -> servers.get(Engine.MYSQL_8_0))
                    .withMessage("MySQL 8.0 cannot start here: it is Monday; wait a day");
        }

        assertThat(starts).hasValue(1);
    }

    @Test
    void missingLibraryIsNamedWithItsPackage() {
        String output = "mysqld: error while loading shared libraries: libaio.so.1: cannot open shared object file";

        assertThat(StartupFailure.explain(Engine.MYSQL_8_0, "the server ended", output))
                .hasMessage("MySQL 8.0 cannot start here: libaio.so.1 is missing; apt-get install libaio1");
    }

    @Test
    void lastWordsOfTheServerAreQuoted() {
        assertThat(StartupFailure.explain(Engine.MARIADB_11_4, "the server ended", "1\n2\n3\n4\n\n5\n6\n"))
                .hasMessageStartingWith(
                        "MariaDB 11.4 cannot start here: the server ended, saying: 2 | 3 | 4 | 5 | 6; ");
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "MYSQL_8_0"})
    void absentBinariesAreNamedWithTheirPlace(Engine engine, @TempDir Path empty) {
        String before = System.setProperty(EngineDirectory.PROPERTY, empty.toString());
        try {
            assertThatExceptionOfType(DatabaseUnavailableException.class)
                    .isThrownBy(() -> Databases.start(engine))
                    .withMessageContainingAll(engine.displayName(), empty.toString(), EngineDirectory.PROPERTY);
        } finally {
            restore(before);
        }
    }

    @Test
    void halfPreparedDirectoryIsNotUsed(@TempDir Path empty) throws IOException {
        String before = System.setProperty(EngineDirectory.PROPERTY, empty.toString());
        try {
            assertThatThrownBy(() -> EngineDirectory.prepared("engine", directory -> {
                        Files.createFile(directory.resolve("half"));
                        throw new IOException("disk full");
                    }))
                    .hasMessage("disk full");

            Path complete = EngineDirectory.prepared("engine", directory -> Files.createFile(directory.resolve("all")));

            assertThat(complete).isDirectoryContaining("glob:**/all").isDirectoryNotContaining("glob:**/half");
        } finally {
            restore(before);
        }
    }

    private static void restore(@Nullable String before) {
        if (before == null) {
            System.clearProperty(EngineDirectory.PROPERTY);
        } else {
            System.setProperty(EngineDirectory.PROPERTY, before);
        }
    }

    private static DatabaseServer fail(Engine engine) {
        throw new DatabaseUnavailableException(engine, "it is Monday", "wait a day");
    }
}
