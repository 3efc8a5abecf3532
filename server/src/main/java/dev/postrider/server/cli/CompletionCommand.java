package dev.postrider.server.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code postrider completion}: prints the script that completes commands and options in a shell. */
@Command(
        name = "completion",
        description = {
            "Print the script that completes commands and options in a shell.",
            "bash: source <(postrider completion bash). zsh: source <(postrider completion zsh), after compinit."
        })
final class CompletionCommand implements Callable<Integer> {

    /** The shells. One script serves both: it tells them apart when it is read. */
    enum Shell {
        bash,
        zsh
    }

    @Parameters(paramLabel = "SHELL", description = "${COMPLETION-CANDIDATES}.")
    private Shell shell = Shell.bash;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        CommandLine top = spec.root().commandLine();
        PrintWriter out = spec.commandLine().getOut();
        out.println("# Completes " + top.getCommandName() + " in " + shell + ".");
        out.println(AutoComplete.bash(top.getCommandName(), top));
        return ExitCode.OK;
    }
}
