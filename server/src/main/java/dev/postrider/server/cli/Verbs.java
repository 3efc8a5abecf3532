package dev.postrider.server.cli;

import dev.postrider.admin.Action;
import java.util.function.Supplier;
import picocli.CommandLine;

/** Adds the verbs of operators to the command line. Each has options of its own, as picocli wants it. */
public final class Verbs {

    private final CommandLine top;
    private final Supplier<Access> access;
    private final Terminal terminal;

    private Verbs(CommandLine top, Supplier<Access> access, Terminal terminal) {
        this.top = top;
        this.access = access;
        this.terminal = terminal;
    }

    /** @param access makes the options that say where the messages are */
    public static void addTo(CommandLine top, Supplier<Access> access, Terminal terminal) {
        new Verbs(top, access, terminal).add();
    }

    private void add() {
        top.addSubcommand(new ListCommand(access.get(), output()))
                .addSubcommand(new ShowCommand(access.get(), output()))
                .addSubcommand(new TailCommand(access.get(), output()))
                .addSubcommand(new FailuresCommand(access.get(), output()));
        for (Action action : Action.values()) {
            add(Words.of(action), new ActionCommand(action, access.get(), output()), ActionCommand.description(action));
        }
        add("pause", new PauseCommand(true, access.get(), output()), PauseCommand.description(true));
        add("resume", new PauseCommand(false, access.get(), output()), PauseCommand.description(false));
        top.addSubcommand(new CommandLine(new TopicsCommand(access.get(), output()))
                        .addSubcommand(new TopicsCommand.Remove(access.get(), output())))
                .addSubcommand(new BlockedKeysCommand(access.get(), output()))
                .addSubcommand(new LanesCommand(access.get(), output()))
                .addSubcommand(new NodesCommand(access.get(), output()))
                .addSubcommand(new CommandLine(new CommandsCommand(access.get(), output()))
                        .addSubcommand(new CommandsCommand.Show(access.get(), output()))
                        .addSubcommand(new CommandsCommand.Resolve(access.get(), output())))
                .addSubcommand(new AuditCommand(access.get(), output()))
                .addSubcommand(new PurgeCommand(access.get(), output()))
                .addSubcommand(new DoctorCommand(access.get(), output()))
                .addSubcommand(new CommandLine(new SchemaCommand())
                        .addSubcommand(new SchemaCommand.Print(access.get()))
                        .addSubcommand(new SchemaCommand.Status(access.get(), output()))
                        .addSubcommand(new SchemaCommand.Migrate(access.get())))
                .addSubcommand(new CompletionCommand());
    }

    private OutputOptions output() {
        return new OutputOptions(terminal);
    }

    private void add(String name, Object command, String description) {
        CommandLine verb = new CommandLine(command);
        verb.getCommandSpec().usageMessage().description(description);
        top.addSubcommand(name, verb);
    }
}
