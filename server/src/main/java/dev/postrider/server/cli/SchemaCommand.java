package dev.postrider.server.cli;

import dev.postrider.jdbc.JdbcDatabase;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code postrider schema}: the tables of Postrider. Has no work of its own. */
@Command(
        name = "schema",
        description = "Print, check or migrate Postrider's tables.",
        synopsisSubcommandLabel = "COMMAND")
final class SchemaCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Which one: print, status or migrate?");
    }

    /** {@code postrider schema print}. */
    @Command(
            name = "print",
            description =
                    "Print the SQL that brings the tables into an empty database. Connects to detect the database.")
    static final class Print implements Callable<Integer> {

        @Mixin
        private final Access access;

        @Spec
        private CommandSpec spec = CommandSpec.create();

        Print(Access access) {
            this.access = access;
        }

        @Override
        public Integer call() {
            return access.database(
                    database -> Migration.print(database, spec.commandLine().getOut()));
        }
    }

    /** {@code postrider schema status}. */
    @Command(
            name = "status",
            description = "Say which versions of the tables were applied, and whether this version works with them.")
    static final class Status implements Callable<Integer> {

        /** A version of the tables. */
        private record Version(int version, Instant appliedAt) {}

        private static final Columns<Version> COLUMNS = Columns.<Version>none()
                .with("version", "VERSION", Version::version)
                .with("appliedAt", "APPLIED", Version::appliedAt);

        @Mixin
        private final Access access;

        @Mixin
        private final OutputOptions output;

        Status(Access access, OutputOptions output) {
            this.access = access;
            this.output = output;
        }

        @Override
        public Integer call() {
            return access.database(this::show);
        }

        private int show(JdbcDatabase database) {
            database.check();
            List<Version> versions = new ArrayList<>();
            database.applied().forEach(time -> versions.add(new Version(versions.size() + 1, time)));
            Report report = output.report();
            report.list(COLUMNS, versions, Map.of("fits", true), "");
            report.say("This version works with the tables.");
            return ExitCode.OK;
        }
    }

    /** {@code postrider schema migrate}. */
    @Command(
            name = "migrate",
            description = "Create or upgrade the tables. Safe to run again, and on many machines at once.")
    static final class Migrate implements Callable<Integer> {

        @Mixin
        private final Access access;

        @Spec
        private CommandSpec spec = CommandSpec.create();

        Migrate(Access access) {
            this.access = access;
        }

        @Override
        public Integer call() {
            return access.database(
                    database -> Migration.apply(database, spec.commandLine().getOut()));
        }
    }
}
