package dev.postrider.server.cli;

import dev.postrider.internal.store.RetentionStore;
import dev.postrider.internal.store.SweptCommands;
import dev.postrider.jdbc.JdbcDatabase;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code postrider purge}: one bounded run of the purge that every started node does by itself. */
@Command(
        name = "purge",
        description = {
            "Remove rows past their retention, once, in small batches. Every started node does this by itself.",
            "Only what is named is purged: give the retention of each kind of row."
        })
final class PurgeCommand implements Callable<Integer> {

    private static final int MOST = 10_000_000;
    private static final int BATCH = 1000;
    private static final Duration SHORTEST = Duration.ofMillis(1);

    @Mixin
    private final Access access;

    @Option(
            names = "--archive-retention",
            paramLabel = "DURATION",
            converter = Words.ToDuration.class,
            description = "Remove delivered messages that were delivered longer ago.")
    private @Nullable Duration archive;

    @Option(
            names = "--dead-retention",
            paramLabel = "DURATION",
            converter = Words.ToDuration.class,
            description = "Remove dead letters that are dead for longer.")
    private @Nullable Duration dead;

    @Option(
            names = "--key-retention",
            paramLabel = "DURATION",
            converter = Words.ToDuration.class,
            description = "Remove idempotency keys that were first used longer ago.")
    private @Nullable Duration keys;

    @Option(
            names = "--inbox-retention",
            paramLabel = "DURATION",
            converter = Words.ToDuration.class,
            description = "Remove marks of messages that were first received longer ago.")
    private @Nullable Duration marks;

    @Option(
            names = "--commands",
            description = "Remove commands and their results past the retention that each of them has.")
    private boolean commands;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "100000",
            description = "At most so many rows of each kind, 1 to " + MOST + "; ${DEFAULT-VALUE} by default.")
    private int limit;

    @Mixin
    private final ChangeOptions options = new ChangeOptions();

    @Mixin
    private final OutputOptions output;

    PurgeCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        Limits.require("--limit", limit, MOST);
        require("--archive-retention", archive);
        require("--dead-retention", dead);
        require("--key-retention", keys);
        require("--inbox-retention", marks);
        if (archive == null && dead == null && keys == null && marks == null && !commands) {
            throw CommandFailure.usage(
                    "What is to be purged? Give --archive-retention, --dead-retention, --key-retention,"
                            + " --inbox-retention or --commands");
        }
        options.requireConsent("delete rows past their retention for good", output);
        return access.database(this::purge);
    }

    private static void require(String option, @Nullable Duration retention) {
        if (retention != null && retention.compareTo(SHORTEST) < 0) {
            throw CommandFailure.usage(option + " must be at least " + Words.of(SHORTEST));
        }
    }

    private int purge(JdbcDatabase database) {
        database.check();
        RetentionStore store = database.retention();
        Map<String, Integer> removed = new LinkedHashMap<>();
        purge(removed, "archived", archive, store::purgeArchive);
        purge(removed, "dead", dead, store::purgeDead);
        purge(removed, "keys", keys, store::purgeKeys);
        purge(removed, "inboxMarks", marks, store::purgeInboxMarks);
        if (commands) {
            SweptCommands swept = swept(store);
            removed.put("commandResults", swept.results());
            removed.put("commands", swept.removed());
        }
        Report report = output.report();
        if (report.isTable()) {
            removed.forEach((kind, number) -> report.say(kind + ": removed " + number));
        } else {
            report.result("", removed);
        }
        return removed.values().stream().anyMatch(number -> number >= limit) ? ExitCode.IN_PART : ExitCode.OK;
    }

    /** Removes rows of one kind, up to a limit. */
    @FunctionalInterface
    private interface Removal {
        int of(Duration age, int limit);
    }

    private void purge(Map<String, Integer> removed, String kind, @Nullable Duration age, Removal removal) {
        if (age != null) {
            int sum = 0;
            int batch;
            int last;
            do {
                batch = Math.min(BATCH, limit - sum);
                last = removal.of(age, batch);
                sum += last;
            } while (last == batch && sum < limit);
            removed.put(kind, sum);
        }
    }

    private SweptCommands swept(RetentionStore store) {
        SweptCommands sum = new SweptCommands(0, 0, 0);
        SweptCommands last;
        do {
            last = store.sweepCommands(BATCH);
            sum = sum.plus(last);
        } while (Math.max(last.results(), last.removed()) >= BATCH && sum.total() < limit);
        return sum;
    }
}
