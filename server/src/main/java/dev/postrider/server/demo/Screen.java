package dev.postrider.server.demo;

import dev.postrider.admin.TopicStatus;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;

/** Prints the progress: one line that is overwritten on a terminal, a line every two seconds elsewhere. */
final class Screen {

    private final PrintWriter out;
    private final boolean terminal;
    private int width;

    Screen(PrintWriter out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    /** The time between two lines. */
    Duration interval() {
        return terminal ? Duration.ofMillis(250) : Duration.ofSeconds(2);
    }

    void say(String line) {
        out.println(line);
        out.flush();
    }

    void progress(Duration since, long enqueued, long delivered, TopicStatus status) {
        String line = String.format(
                Locale.ROOT,
                "%4d s   enqueued %d   delivered %d   retrying %d   dead %d   oldest %.1f s",
                since.toSeconds(),
                enqueued,
                delivered,
                status.retrying(),
                status.dead(),
                status.oldest().toMillis() / 1000.0);
        if (terminal) {
            // Blanks overwrite the rest of a longer line.
            out.print("\r" + line + " ".repeat(Math.max(0, width - line.length())));
            out.flush();
            width = line.length();
        } else {
            say(line);
        }
    }

    /** Ends the line that is overwritten. */
    void endProgress() {
        if (terminal) {
            out.println();
        }
    }
}
