package dev.postrider.server.cli;

import dev.postrider.admin.CommandAdmin.Resolution;
import dev.postrider.admin.CommandAdmin.Resolved;
import dev.postrider.admin.StoredCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code postrider commands}: lists the commands that need an operator. */
@Command(
        name = "commands",
        description = "List the idempotent commands that are uncertain or stuck, or resolve one of them.")
final class CommandsCommand implements Callable<Integer> {

    private static final int MOST = 1000;

    private static final Columns<StoredCommand> COLUMNS = Columns.<StoredCommand>none()
            .with("reference", "REFERENCE", StoredCommand::reference)
            .with("state", "STATE", command -> command.stuck() ? "stuck" : Words.of(command.state()))
            .with("operation", "OPERATION", StoredCommand::operation)
            .with("tenant", "TENANT", StoredCommand::tenant)
            .with("caller", "CALLER", StoredCommand::caller)
            .with("keyPrefix", "KEY", StoredCommand::keyPrefix)
            .with("attempts", "ATTEMPTS", StoredCommand::attempts)
            .with("effectStarted", "EFFECT STARTED", StoredCommand::effectStarted)
            .with("createdAt", "CREATED", StoredCommand::createdAt)
            .detail("updatedAt", StoredCommand::updatedAt)
            .detail("leaseUntil", StoredCommand::leaseUntil)
            .detail("keyExpiresAt", StoredCommand::keyExpiresAt)
            .with("reason", "REASON", StoredCommand::reason);

    /** The commands that can be listed. */
    enum Which {
        uncertain,
        stuck
    }

    @Mixin
    private final Access access;

    @Option(names = "--state", paramLabel = "STATE", description = "Only ${COMPLETION-CANDIDATES}; both by default.")
    private @Nullable Which which;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "50",
            description = "At most so many of each, 1 to " + MOST + "; ${DEFAULT-VALUE} by default.")
    private int limit;

    @Mixin
    private final OutputOptions output;

    CommandsCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        Limits.require("--limit", limit, MOST);
        return access.admin(this::list);
    }

    private int list(AdminBackend admin) {
        List<StoredCommand> commands = new ArrayList<>();
        if (which != Which.stuck) {
            commands.addAll(admin.uncertain(limit));
        }
        if (which != Which.uncertain) {
            commands.addAll(admin.stuck(limit));
        }
        output.report().list(COLUMNS, commands, "No command is uncertain or stuck.");
        return ExitCode.OK;
    }

    /** Reads the reference of a command. */
    private static UUID reference(String text) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage("'" + text + "' is not the reference of a command, which is a UUID");
        }
    }

    private static CommandFailure unknown(UUID reference) {
        return CommandFailure.notFound(
                "There is no command " + reference + ": 'postrider commands' lists the open ones");
    }

    /** {@code postrider commands show}. */
    @Command(name = "show", description = "Show one command in any state, without its key and its result.")
    static final class Show implements Callable<Integer> {

        @Mixin
        private final Access access;

        @Parameters(paramLabel = "REFERENCE", description = "The reference of the command.")
        private String reference = "";

        @Mixin
        private final OutputOptions output;

        Show(Access access, OutputOptions output) {
            this.access = access;
            this.output = output;
        }

        @Override
        public Integer call() {
            UUID wanted = reference(reference);
            return access.admin(admin -> {
                output.report().details(COLUMNS, admin.command(wanted).orElseThrow(() -> unknown(wanted)));
                return ExitCode.OK;
            });
        }
    }

    /** {@code postrider commands resolve}. */
    @Command(
            name = "resolve",
            description = {
                "Resolve a command that is uncertain or stuck.",
                "completed: it took effect and is not run again. failed: it did not take effect, and the next call runs it."
                        + " released: it is deleted, and its key counts as new."
            })
    static final class Resolve implements Callable<Integer> {

        @Mixin
        private final Access access;

        @Parameters(paramLabel = "REFERENCE", description = "The reference of the command.")
        private String reference = "";

        @Option(
                names = "--as",
                required = true,
                paramLabel = "RESOLUTION",
                description = "completed, failed or released.")
        private String resolution = "";

        @Mixin
        private final ChangeOptions options = new ChangeOptions();

        @Mixin
        private final OutputOptions output;

        Resolve(Access access, OutputOptions output) {
            this.access = access;
            this.output = output;
        }

        @Override
        public Integer call() {
            UUID wanted = reference(reference);
            Resolution chosen = List.of(Resolution.values()).stream()
                    .filter(value -> Words.of(value).equals(resolution))
                    .findFirst()
                    .orElseThrow(() -> CommandFailure.usage(
                            "--as must be completed, failed or released, but is '" + resolution + "'"));
            options.requireConsent("resolve the command " + wanted + " as " + Words.of(chosen), output);
            return access.admin(admin -> resolve(admin, wanted, chosen));
        }

        private int resolve(AdminBackend admin, UUID wanted, Resolution chosen) {
            Resolved resolved = admin.resolve(wanted, chosen, options.change());
            if (resolved == Resolved.NOT_FOUND) {
                throw unknown(wanted);
            }
            output.report()
                    .result(
                            resolved == Resolved.DONE
                                    ? "The command " + wanted + " is resolved as " + Words.of(chosen) + "."
                                    : "The command " + wanted
                                            + " has a valid lease, or has already ended: nothing was changed.",
                            Map.of("reference", wanted, "resolution", chosen, "result", resolved));
            return resolved == Resolved.DONE ? ExitCode.OK : ExitCode.WRONG_STATE;
        }
    }
}
