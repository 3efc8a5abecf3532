package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CompletionTest {

    @Test
    void bashCompletesCommandsAndOptions(@TempDir Path directory) throws Exception {
        Path script = Files.writeString(
                directory.resolve("completion"), Cli.run("completion", "bash").out());

        String completed = bash("source '" + script + "'; COMP_WORDS=(postrider repl); COMP_CWORD=1;"
                + " _complete_postrider; echo \"${COMPREPLY[@]}\";"
                + " COMP_WORDS=(postrider replay --dry); COMP_CWORD=2; _complete_postrider; echo \"${COMPREPLY[@]}\"");

        assertThat(completed).contains("replay").contains("--dry-run");
    }

    @Test
    void scriptPreparesZshForCompletionsOfBash() {
        Cli zsh = Cli.run("completion", "zsh");

        assertThat(zsh.exitCode()).isZero();
        assertThat(zsh.out()).startsWith("# Completes postrider in zsh.").contains("ZSH_VERSION", "bashcompinit");
    }

    private static String bash(String commands) throws IOException, InterruptedException {
        Process bash = new ProcessBuilder("bash", "--norc", "-c", commands)
                .redirectErrorStream(true)
                .start();
        String output = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(output).isZero();
        return output;
    }
}
