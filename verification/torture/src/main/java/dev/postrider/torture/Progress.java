package dev.postrider.torture;

import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** Prints the progress of a run in one line, at most once per second. One thread. */
final class Progress {

    private final Site site;
    private final Nemesis nemesis;
    private final Consumer<String> live;
    private double shown = Double.NEGATIVE_INFINITY;

    Progress(Site site, Nemesis nemesis, Consumer<String> live) {
        this.site = site;
        this.nemesis = nemesis;
        this.live = live;
    }

    /** @param count the number of committed messages; negative if it is not to be shown */
    void show(double seconds, long count, long backlog, String phase) {
        if (seconds - shown < 1) {
            return;
        }
        shown = seconds;
        List<String> broken = nemesis.now();
        live.accept(String.format(
                Locale.ROOT,
                "%s%4.0f s  %s%d delivered  %d waiting  %d duplicates  %d faults%s",
                phase.isEmpty() ? "" : phase + " ",
                seconds,
                count < 0 ? "" : count + " committed  ",
                site.tally().delivered(),
                backlog,
                site.tally().duplicates(),
                nemesis.broken().size(),
                broken.isEmpty() ? "" : "  now: " + String.join(" ", broken)));
    }
}
