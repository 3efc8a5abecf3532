package dev.postrider.server;

import dev.postrider.server.cli.Terminal;
import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** One run of the command line in this process. */
record Cli(int exitCode, String out, String err) {

    /** As a program runs it: nothing can be asked. */
    static Cli run(String... arguments) {
        return run(Terminal.none(), arguments);
    }

    static Cli run(Terminal terminal, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine commandLine = Main.commandLine(new Shutdown(), terminal)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        int exitCode = commandLine.execute(arguments);
        return new Cli(exitCode, out.toString(), err.toString());
    }
}
