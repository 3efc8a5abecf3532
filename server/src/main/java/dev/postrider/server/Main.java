package dev.postrider.server;

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
            "4:the tables are missing or do not fit this version"
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
        ErrorReport errors = new ErrorReport();
        // Subcommands are added in code, not by annotation, because they get their dependencies through constructors.
        return new CommandLine(new Main())
                .addSubcommand(new DemoCommand(shutdown))
                .addSubcommand(new RunCommand(shutdown))
                .addSubcommand(new MigrateCommand())
                .addSubcommand(new StatusCommand())
                .setExecutionExceptionHandler(errors)
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
