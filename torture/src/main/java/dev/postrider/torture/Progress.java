package dev.postrider.torture;

import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** Says in one line how a run goes, not more often than anybody can read. One thread. */
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

    /** @param count of messages committed; negative if that is of no interest any more */
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
