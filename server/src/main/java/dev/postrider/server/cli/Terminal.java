package dev.postrider.server.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is at the other end: a person at a terminal, or a program.
 *
 * @param isScreen whether the output goes to a terminal, where a line can be overwritten
 * @param colours whether it shows colours, and the person wants them
 * @param answers reads what the person types; empty if there is no person to ask
 */
public record Terminal(boolean isScreen, boolean colours, Optional<Supplier<@Nullable String>> answers) {

    /** A program: no colours, no progress, no questions. */
    public static Terminal none() {
        return new Terminal(false, false, Optional.empty());
    }

    /**
     * The start script sets the two properties, because the detection of a terminal differs between releases of Java.
     *
     * @param environment the variables, of which {@code NO_COLOR} and {@code TERM} count
     */
    public static Terminal system(Function<String, @Nullable String> environment) {
        boolean screen = Boolean.getBoolean("postrider.terminal");
        boolean person = Boolean.getBoolean("postrider.interactive");
        return new Terminal(
                screen, screen && wantsColours(environment), person ? Optional.of(Terminal::line) : Optional.empty());
    }

    static boolean wantsColours(Function<String, @Nullable String> environment) {
        String none = environment.apply("NO_COLOR");
        return (none == null || none.isEmpty()) && !"dumb".equals(environment.apply("TERM"));
    }

    private static @Nullable String line() {
        try {
            return new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
