package dev.postrider.server.cli;

import dev.postrider.admin.Action;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.message.MessageId;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code postrider replay} and the other actions on messages: one message, or all that a filter selects. */
@Command
final class ActionCommand implements Callable<Integer> {

    private static final int MOST_IDS = 1000;
    private static final int MOST = 1_000_000;

    /** Small enough that the progress is seen, and that a person who interrupts it has not waited long. */
    private static final int STEP = 2_000;

    private static final Columns<Outcome> OUTCOMES = Columns.<Outcome>none()
            .with("id", "ID", Outcome::id)
            .with("result", "RESULT", Outcome::result)
            .with("state", "STATE", Outcome::state);

    /** What became of one message. */
    private record Outcome(MessageId id, String result, StoredMessage.@Nullable State state) {}

    private final Action action;

    @Mixin
    private final Access access;

    @Parameters(
            paramLabel = "ID",
            arity = "0..*",
            description = "The ids of messages; or leave them out and give a filter.")
    private List<String> ids = new ArrayList<>();

    @Mixin
    private final FilterOptions filter = new FilterOptions();

    @Option(names = "--dry-run", description = "Change nothing; say what would be changed.")
    private boolean dryRun;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "1000000",
            description = "With a filter: change at most so many, the oldest first; ${DEFAULT-VALUE} by default.")
    private int limit;

    @Mixin
    private final ChangeOptions options = new ChangeOptions();

    @Mixin
    private final OutputOptions output;

    ActionCommand(Action action, Access access, OutputOptions output) {
        this.action = action;
        this.access = access;
        this.output = output;
    }

    /** What the action does, for its help. */
    static String description(Action action) {
        return switch (action) {
            case REPLAY -> "Return dead and parked messages to the queue, due now, with all their attempts again.";
            case RETRY -> "Make retrying and scheduled messages due now; of a blocked key also its parked head.";
            case PARK -> "Keep the retrying heads of blocked keys for an operator.";
            case BURY -> "Make retrying and parked messages dead letters. A blocked key continues.";
            case DISCARD -> "Delete dead and parked messages for good. A blocked key continues.";
            case CANCEL -> "Make messages that are not being delivered dead letters that are never replayed.";
            case REDELIVER -> "Deliver messages of the archive again, with the same id.";
            case REDELIVER_AS_NEW -> "Deliver messages of the archive again, as new messages.";
        };
    }

    @Override
    public Integer call() {
        Limits.require("--limit", limit, MOST);
        Filter selected = filter.filter();
        boolean hasFilter =
                !selected.states().isEmpty() || !selected.conditions().isEmpty();
        if (ids.isEmpty() != hasFilter) {
            throw CommandFailure.usage(
                    hasFilter
                            ? "Ids and a filter do not go together: keep one of them"
                            : "Which messages? Give an id, or a filter such as --topic NAME or --state dead");
        }
        return hasFilter ? all(selected) : each();
    }

    // One message, or several by their ids

    private int each() {
        if (ids.size() > MOST_IDS) {
            throw CommandFailure.usage("At most " + MOST_IDS + " ids fit into one call, but there are " + ids.size());
        }
        List<MessageId> wanted = ids.stream().map(MessageId::of).toList();
        Change change = options.change();
        if (!dryRun && action == Action.DISCARD) {
            options.requireConsent("discard " + Words.count(wanted.size(), "message") + " for good", output);
        }
        return access.admin(admin -> {
            List<Outcome> outcomes = wanted.stream()
                    .map(id -> dryRun ? foreseen(admin, id) : changed(admin, id, change))
                    .toList();
            output.report().list(OUTCOMES, outcomes, "");
            return exitCode(outcomes);
        });
    }

    private Outcome changed(AdminBackend admin, MessageId id, Change change) {
        Repair repair = admin.apply(action, id, change);
        return new Outcome(id, Words.of(repair), state(admin, id).orElse(null));
    }

    private Outcome foreseen(AdminBackend admin, MessageId id) {
        Optional<StoredMessage.State> state = state(admin, id);
        String result = state.isEmpty()
                ? Words.of(Repair.NOT_FOUND)
                : action.states().contains(state.get()) ? "would-change" : Words.of(Repair.WRONG_STATE);
        return new Outcome(id, result, state.orElse(null));
    }

    private static Optional<StoredMessage.State> state(AdminBackend admin, MessageId id) {
        return admin.explain(id).map(message -> message.detail().message().state());
    }

    private static int exitCode(List<Outcome> outcomes) {
        long done = outcomes.stream()
                .filter(outcome -> outcome.result().equals(Words.of(Repair.DONE))
                        || outcome.result().equals("would-change"))
                .count();
        if (done == outcomes.size()) {
            return ExitCode.OK;
        }
        if (done > 0) {
            return ExitCode.IN_PART;
        }
        return outcomes.stream().allMatch(outcome -> outcome.result().equals(Words.of(Repair.NOT_FOUND)))
                ? ExitCode.NOT_FOUND
                : ExitCode.WRONG_STATE;
    }

    // All that a filter selects

    private int all(Filter selected) {
        Change change = options.change();
        return access.admin(admin -> {
            if (dryRun) {
                return foresee(admin, selected);
            }
            if (!options.isSure()) {
                ChangeResult counted =
                        admin.apply(action, selected, Change.dryRun().limit(Math.min(limit, Change.MOST)));
                if (counted.changed() == 0 && counted.next() == null) {
                    return report(counted.changed(), 0, null);
                }
                options.requireConsent(Words.of(action) + " " + number(counted) + " (" + shown(selected) + ")", output);
            }
            return change(admin, selected, change);
        });
    }

    private static String number(ChangeResult counted) {
        return (counted.next() == null ? "" : "at least ") + Words.count(counted.changed(), "message");
    }

    /** The filter as the audit will show it. */
    private static String shown(Filter selected) {
        return Printable.line(selected.toString());
    }

    private int foresee(AdminBackend admin, Filter selected) {
        ChangeResult counted = admin.apply(action, selected, Change.dryRun().limit(Math.min(limit, Change.MOST)));
        Report report = output.report();
        Columns<MessageSummary> columns = MessageColumns.SUMMARY;
        if (report.isTable()) {
            report.say("Would " + Words.of(action) + " " + number(counted) + " (" + shown(selected) + ")"
                    + (counted.sample().isEmpty() ? "." : ", such as:"));
            if (!counted.sample().isEmpty()) {
                report.list(columns, counted.sample(), "");
            }
        } else {
            Map<String, @Nullable Object> members = members(counted.changed(), 0, counted.next());
            members.put("dryRun", true);
            members.put(
                    "sample", counted.sample().stream().map(columns::members).toList());
            report.result("", members);
        }
        return counted.changed() == 0 && counted.next() == null ? ExitCode.NOTHING_MATCHED : ExitCode.OK;
    }

    private int change(AdminBackend admin, Filter selected, Change change) {
        int changed = 0;
        int skipped = 0;
        @Nullable String next = null;
        do {
            int left = limit - changed - skipped;
            ChangeResult result = admin.apply(
                    action, selected, change.limit(Math.min(STEP, left)).after(next));
            changed += result.changed();
            skipped += result.skipped();
            next = result.next();
            progress(changed, skipped);
        } while (next != null && changed + skipped < limit);
        endProgress();
        return report(changed, skipped, next);
    }

    private void progress(int changed, int skipped) {
        if (output.terminal().isScreen()) {
            PrintWriter aside = output.aside();
            aside.print("\r" + Words.count(changed, "message") + " changed, " + skipped + " skipped ");
            aside.flush();
        }
    }

    private void endProgress() {
        if (output.terminal().isScreen()) {
            PrintWriter aside = output.aside();
            aside.print("\r" + " ".repeat(60) + "\r");
            aside.flush();
        }
    }

    private int report(int changed, int skipped, @Nullable String next) {
        String sentence = changed + skipped == 0 && next == null
                ? "No message matches that '" + Words.of(action) + "' would change."
                : "Changed " + Words.count(changed, "message")
                        + (skipped == 0 ? "" : ", skipped " + skipped + " that were locked or have changed: try again")
                        + (next == null ? "." : ". More may match: repeat the command.");
        output.report().result(sentence, members(changed, skipped, next));
        if (next != null || skipped > 0) {
            return ExitCode.IN_PART;
        }
        return changed == 0 ? ExitCode.NOTHING_MATCHED : ExitCode.OK;
    }

    private Map<String, @Nullable Object> members(int changed, int skipped, @Nullable String next) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("action", action);
        members.put("changed", changed);
        members.put("skipped", skipped);
        members.put("next", next);
        return members;
    }
}
