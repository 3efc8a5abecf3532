package dev.postrider.server.cli;

import dev.postrider.admin.Filter;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Paging;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code postrider list}: lists the messages that a filter selects. */
@Command(name = "list", description = "List messages, without their payloads. Without a filter: all of them.")
final class ListCommand implements Callable<Integer> {

    static final int MOST = 10_000;
    private static final int PAGE = 1000;

    /** Bounds the work of a list whose filter selects few of many messages. */
    private static final int PAGES = 100;

    @Mixin
    private final Access access;

    @Mixin
    private final FilterOptions filter = new FilterOptions();

    @Option(names = "--newest", description = "Begin with the newest message; with the oldest by default.")
    private boolean newest;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "50",
            description = "At most so many, 1 to " + MOST + "; ${DEFAULT-VALUE} by default.")
    private int limit;

    @Option(names = "--cursor", paramLabel = "TEXT", description = "Continue where the list before ended.")
    private @Nullable String cursor;

    @Mixin
    private final OutputOptions output;

    ListCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        Limits.require("--limit", limit, MOST);
        Filter selected = filter.filter();
        return access.admin(admin -> list(admin, selected));
    }

    private int list(AdminBackend admin, Filter selected) {
        List<MessageSummary> messages = new ArrayList<>();
        @Nullable String next = cursor;
        int pages = 0;
        do {
            MessagePage page =
                    admin.messages(selected, new Paging(next, Math.min(PAGE, limit - messages.size()), newest));
            messages.addAll(page.messages());
            next = page.next();
            pages++;
        } while (next != null && messages.size() < limit && pages < PAGES);
        Map<String, @Nullable Object> more = new LinkedHashMap<>();
        more.put("next", next);
        Report report = output.report();
        report.list(MessageColumns.SUMMARY, messages, more, "No message matches.");
        if (next != null) {
            report.say("There may be more: continue with --cursor " + next);
        }
        return ExitCode.OK;
    }
}
