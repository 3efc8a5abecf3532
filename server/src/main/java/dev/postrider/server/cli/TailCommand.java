package dev.postrider.server.cli;

import dev.postrider.admin.Filter;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Paging;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.message.MessageId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code postrider tail}: prints messages as they are written and as they change. */
@Command(
        name = "tail",
        description = {
            "Print messages as they are written, attempted and delivered, until Ctrl-C.",
            "Reads the newest messages at each interval; what comes and goes in between is not seen."
        })
final class TailCommand implements Callable<Integer> {

    /** The newest waiting messages, and as many of the newest delivered ones, that one reading sees. */
    private static final int WINDOW = 500;

    /** Enough that a message is not printed twice while it is in the window. */
    private static final int REMEMBERED = 10 * WINDOW;

    private static final Duration SHORTEST_INTERVAL = Duration.ofMillis(100);

    @Mixin
    private final Access access;

    @Mixin
    private final FilterOptions filter = new FilterOptions();

    @Option(
            names = "--interval",
            paramLabel = "DURATION",
            converter = Words.ToDuration.class,
            defaultValue = "1s",
            description = "The time between two readings; ${DEFAULT-VALUE} by default.")
    private Duration interval = Duration.ofSeconds(1);

    @Option(
            names = "--lines",
            paramLabel = "N",
            defaultValue = "10",
            description =
                    "Begin with so many of the newest messages, 0 to " + WINDOW + "; ${DEFAULT-VALUE} by default.")
    private int lines;

    @Option(names = "--limit", paramLabel = "N", description = "End after so many lines.")
    private @Nullable Integer limit;

    @Option(
            names = "--for",
            paramLabel = "DURATION",
            converter = Words.ToDuration.class,
            description = "End after this time.")
    private @Nullable Duration length;

    @Mixin
    private final OutputOptions output;

    /** What was printed of each message. The oldest entries are dropped. */
    private final Map<MessageId, String> printed = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<MessageId, String> eldest) {
            return size() > REMEMBERED;
        }
    };

    TailCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        if (interval.compareTo(SHORTEST_INTERVAL) < 0) {
            throw CommandFailure.usage("--interval must be at least " + Words.of(SHORTEST_INTERVAL));
        }
        if (lines < 0 || lines > WINDOW) {
            throw CommandFailure.usage("--lines must be 0 to " + WINDOW + ", but is " + lines);
        }
        if (limit != null) {
            Limits.require("--limit", limit, Integer.MAX_VALUE);
        }
        Filter selected = filter.filter();
        return access.admin(admin -> tail(admin, selected));
    }

    private int tail(AdminBackend admin, Filter selected) {
        Report report = output.report();
        long begin = System.nanoTime();
        long left = limit == null ? Long.MAX_VALUE : limit;
        boolean first = true;
        do {
            List<MessageSummary> news = news(admin, selected);
            if (first) {
                news = news.subList(Math.max(0, news.size() - lines), news.size());
                first = false;
            }
            for (MessageSummary message : news) {
                if (left > 0) {
                    report.follow(MessageColumns.SUMMARY, message);
                    left--;
                }
            }
        } while (left > 0 && !isOver(begin) && pause());
        return ExitCode.OK;
    }

    /** Returns the messages that are new, or have changed, since the last call. */
    private List<MessageSummary> news(AdminBackend admin, Filter selected) {
        List<MessageSummary> news = new ArrayList<>();
        for (Filter part : parts(selected)) {
            for (MessageSummary message :
                    admin.messages(part, Paging.newest(WINDOW)).messages()) {
                String now = message.state() + " " + message.attempts();
                if (!now.equals(printed.put(message.id(), now))) {
                    news.add(message);
                }
            }
        }
        news.sort(Comparator.comparingLong(MessageSummary::seq));
        return news;
    }

    /** Waiting and delivered messages are read apart, because many of one kind would hide the other. */
    private static List<Filter> parts(Filter selected) {
        Set<State> waiting = EnumSet.complementOf(EnumSet.of(State.DELIVERED, State.UNKNOWN));
        if (selected.states().isEmpty()) {
            return List.of(selected.states(waiting), selected.states(Set.of(State.DELIVERED)));
        }
        return List.of(selected);
    }

    private boolean isOver(long begin) {
        return length != null && System.nanoTime() - begin >= length.toNanos();
    }

    /** Waits for the next reading. Returns false when the process is to end. */
    private boolean pause() {
        try {
            Thread.sleep(interval.toMillis());
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
