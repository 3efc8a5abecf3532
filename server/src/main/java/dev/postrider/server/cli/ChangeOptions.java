package dev.postrider.server.cli;

import dev.postrider.admin.Change;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Who changes something, and the consent to changes of many messages and to those that cannot be undone. */
final class ChangeOptions {

    @Option(
            names = "--operator",
            paramLabel = "NAME",
            description = "Your name for the audit; by default that of the user of this computer.")
    private @Nullable String operator;

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the audit.")
    private @Nullable String reason;

    @Option(names = "--yes", description = "Do not ask. Required where nothing can be asked, as in a script.")
    private boolean yes;

    Change change() {
        return Change.by(operator == null ? System.getProperty("user.name") : operator)
                .reason(reason);
    }

    boolean isSure() {
        return yes;
    }

    /**
     * Asks, unless {@code --yes} is given.
     *
     * @param what the change, such as {@code replay 12 messages}
     * @throws CommandFailure when the answer is no, or where there is no terminal
     */
    void requireConsent(String what, OutputOptions output) {
        if (yes) {
            return;
        }
        Supplier<@Nullable String> answers = output.terminal()
                .answers()
                .orElseThrow(() -> CommandFailure.usage(
                        "This would " + what + ", and there is no terminal to ask at: add --yes to do it"));
        PrintWriter aside = output.aside();
        aside.print("This will " + what + ". Continue? [y/N] ");
        aside.flush();
        String answer = answers.get();
        if (answer == null || !answer.strip().toLowerCase(Locale.ROOT).matches("y|yes")) {
            throw CommandFailure.declined();
        }
    }
}
