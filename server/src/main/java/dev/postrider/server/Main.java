package dev.postrider.server;

import dev.postrider.server.cli.Terminal;
import dev.postrider.server.cli.Verbs;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The entry point of the command line. */
@Command(
        name = "postrider",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        scope = ScopeType.INHERIT,
        synopsisSubcommandLabel = "COMMAND",
        usageHelpAutoWidth = true,
        sortOptions = false,
        headerHeading = "",
        commandListHeading = "%nCommands:%n",
        optionListHeading = "%nOptions:%n",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:success",
            "1:failure; the message gives the reason",
            "2:the options or the configuration file are wrong",
            "3:the database cannot be reached or refuses the login",
            "4:the tables are missing or do not fit this version",
            "5:the filter of an action selected no message",
            "6:some of the selected messages were not changed",
            "7:the message, the topic or the command does not exist",
            "8:the state of the message or the topic does not allow the change",
            "9:the worst finding of 'doctor' is a warning",
            "10:'doctor' found an error"
        })
public final class Main {

    @Option(names = "--verbose", scope = ScopeType.INHERIT, description = "Log more, and show stack traces of errors.")
    private boolean verbose;

    private Main() {}

    public static void main(String[] arguments) {
        Shutdown shutdown = new Shutdown();
        int code = commandLine(shutdown).execute(arguments);
        shutdown.finished(code);
        System.exit(code);
    }

    static CommandLine commandLine(Shutdown shutdown) {
        return commandLine(shutdown, Terminal.system(System::getenv));
    }

    static CommandLine commandLine(Shutdown shutdown, Terminal terminal) {
        ErrorReport errors = new ErrorReport();
        // Subcommands are added in code, not by annotation, because they get their dependencies through constructors.
        CommandLine top = new CommandLine(new Main())
                .addSubcommand(new DemoCommand(shutdown))
                .addSubcommand(new RunCommand(shutdown))
                .addSubcommand(new MigrateCommand())
                .addSubcommand(new StatusCommand());
        Verbs.addTo(top, DatabaseOptions::new, terminal);
        return top.setExecutionExceptionHandler(errors)
                .setParameterExceptionHandler(errors)
                .setOut(new PrintWriter(System.out, true, Charset.defaultCharset()))
                .setErr(new PrintWriter(System.err, true, Charset.defaultCharset()));
    }

    static boolean isVerbose(CommandLine command) {
        CommandLine top = command;
        while (top.getParent() != null) {
            top = top.getParent();
        }
        return top.getCommand() instanceof Main main && main.verbose;
    }

    /** Reads the version from the manifest of the runnable jar. Classes that run from elsewhere have none. */
    static final class Version implements IVersionProvider {

        @Override
        public String[] getVersion() {
            String version = Main.class.getPackage().getImplementationVersion();
            return new String[] {"postrider " + (version == null ? "(development)" : version)};
        }
    }
}
