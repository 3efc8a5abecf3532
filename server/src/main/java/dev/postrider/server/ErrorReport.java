package dev.postrider.server;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.PostriderException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.server.cli.CommandFailure;
import dev.postrider.server.cli.ExitCode;
import dev.postrider.server.demo.DemoUnavailableException;
import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns a failure into a line on the standard error and an exit code. No other class does this. */
final class ErrorReport implements IExecutionExceptionHandler, IParameterExceptionHandler {

    @Override
    public int handleExecutionException(Exception failure, CommandLine command, ParseResult parsed) {
        PrintWriter err = command.getErr();
        err.println("postrider: " + line(failure));
        if (Main.isVerbose(command)) {
            printTrace(failure, err);
        }
        err.flush();
        return exitCode(failure);
    }

    /** Prints the stack trace, redacted line by line: causes come from the driver and may quote its input. */
    private static void printTrace(Exception failure, PrintWriter err) {
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        trace.toString().lines().forEach(line -> err.println(line.startsWith("\tat ") ? line : Redaction.line(line)));
    }

    @Override
    public int handleParseException(ParameterException failure, String[] arguments) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        if (arguments.length == 0) {
            command.usage(err);
            return ExitCode.USAGE;
        }
        err.println("postrider: " + Redaction.line(text(failure)));
        UnmatchedArgumentException.printSuggestions(failure, err);
        err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
        err.flush();
        return ExitCode.USAGE;
    }

    /** The error text. It omits the text after an unknown option, which may be a password. */
    private static String text(ParameterException failure) {
        if (!(failure instanceof UnmatchedArgumentException unmatched)) {
            return String.valueOf(failure.getMessage());
        }
        String first = unmatched.getUnmatched().get(0);
        if (!first.startsWith("-")) {
            return String.valueOf(failure.getMessage());
        }
        // Only the name of -psecret and --password=secret.
        String name = first.startsWith("--")
                ? first.replaceFirst("=.*", "")
                : first.substring(0, Math.min(first.length(), 2));
        String advice = name.startsWith("--pass") || name.equals("-p")
                ? ". A list of processes would show a password there: use --password-env or --password-file"
                : "";
        return "There is no option " + name + advice;
    }

    private static String line(Exception failure) {
        if (failure instanceof CommandFailure
                || failure instanceof PostriderException
                || failure instanceof DemoUnavailableException) {
            return Redaction.line(failure.getMessage());
        }
        return Redaction.line("unexpected: " + failure) + " (--verbose shows where)";
    }

    private static int exitCode(Exception failure) {
        if (failure instanceof CommandFailure known) {
            return known.exitCode();
        }
        if (failure instanceof InvalidConfigurationException || failure instanceof InvalidMessageException) {
            return ExitCode.USAGE;
        }
        if (failure instanceof StoreUnavailableException) {
            return ExitCode.UNREACHABLE;
        }
        return failure instanceof SchemaMismatchException ? ExitCode.SCHEMA : ExitCode.FAILED;
    }
}
