package dev.postrider.jdbc;

import dev.postrider.admin.Action;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Paging;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Redelivers one message of the archive, or all that a filter selects, in the order of their delivery. Each step is a short transaction: while
 * it is open, no lane is read beyond the messages that it has written. Thread-safe.
 */
final class FilteredRedelivery {

    /** The most messages of one transaction. */
    static final int STEP = 100;

    /** Bounds the work of a call whose filter selects few of many messages. */
    private static final int SEARCHES = 100;

    private static final int SAMPLE = 10;

    private static final String NOW = "SELECT {now} AS now";

    private final Sessions sessions;
    private final SqlRunner sql;
    private final MessageLists lists;
    private final Redelivery redelivery;
    private final AuditLog audit;

    FilteredRedelivery(Sessions sessions, SqlRunner sql, MessageLists lists, AuditLog audit) {
        this.sessions = sessions;
        this.sql = sql;
        this.lists = lists;
        this.redelivery = new Redelivery(sql);
        this.audit = audit;
    }

    /** Redelivers the last delivery of a message. */
    Repair apply(Connection connection, Action action, MessageId id, Change change) throws SQLException {
        Optional<Redelivery.ArchivePlace> newest = redelivery.newest(connection, id);
        if (newest.isEmpty()) {
            return Repair.NOT_FOUND;
        }
        if (change.expected() != null && change.expected() != State.DELIVERED) {
            return Repair.WRONG_STATE;
        }
        Map<Redelivery.Fate, Integer> fates = redelivery.redeliver(connection, action, List.of(newest.get()));
        Repair repair = repair(fates.keySet().iterator().next());
        if (repair == Repair.DONE) {
            audit.record(connection, change, action.name(), topic(connection, id), id);
        }
        return repair;
    }

    private static Repair repair(Redelivery.Fate fate) {
        return switch (fate) {
            case DONE -> Repair.DONE;
            case NO_PAYLOAD -> Repair.NO_PAYLOAD;
            case REPEATED, LIVE, UNREADABLE -> Repair.WRONG_STATE;
            case NO_TOPIC -> Repair.NOT_FOUND;
            case LOCKED -> Repair.BUSY;
        };
    }

    private TopicName topic(Connection connection, MessageId id) throws SQLException {
        return new StoredMessages(sql, null)
                .find(connection, id)
                .map(found -> found.message().topic())
                .orElseThrow();
    }

    ChangeResult apply(Action action, Filter filter, Change change) {
        Filter selected = selected(action, filter, change.expected());
        int changed = 0;
        int skipped = 0;
        List<MessageSummary> sample = new ArrayList<>();
        @Nullable String after = start(change.cursor());
        for (int searches = 0; searches < SEARCHES && changed + skipped < change.limit(); searches++) {
            MessagePage page = find(selected, after, Math.min(STEP, change.limit() - changed - skipped));
            int done;
            if (change.isDryRun()) {
                page.messages().stream().limit(SAMPLE - sample.size()).forEach(sample::add);
                done = foresee(action, page);
            } else {
                done = step(action, selected, change, page);
            }
            changed += done;
            skipped += page.messages().size() - done;
            after = page.next();
            if (after == null) {
                break;
            }
        }
        return new ChangeResult(changed, skipped, after, sample);
    }

    /**
     * Returns the filter for the delivered messages that the caller means.
     *
     * @throws InvalidConfigurationException if it could select messages that are written by the redelivery
     */
    Filter selected(Action action, Filter filter, @Nullable State expected) {
        boolean noneOfThem = !filter.states().isEmpty() && !filter.states().contains(State.DELIVERED);
        if (noneOfThem || (expected != null && expected != State.DELIVERED)) {
            throw new InvalidConfigurationException(
                    "filter",
                    "must select messages in one of the states that " + action + " changes: " + action.states());
        }
        Instant now = sessions.statement(
                "read the clock",
                connection -> sql.query(connection, NOW, binder -> {}, row -> {
                    row.next();
                    return Objects.requireNonNull(sql.readTime(row, "now"));
                }));
        boolean ends = filter.conditions().stream()
                .anyMatch(condition -> condition instanceof Filter.Between between
                        && between.time() == Filter.Time.DELIVERED
                        && between.to() != null
                        && !between.to().isAfter(now));
        if (!ends) {
            throw new InvalidConfigurationException(
                    "filter",
                    "must end at a delivery time that has passed, as delivered(from, to): otherwise it would select what "
                            + action + " has just written");
        }
        return filter.states(Set.of(State.DELIVERED));
    }

    /** Returns the cursor of the archive at which a redelivery starts. */
    static String start(@Nullable String cursor) {
        if (cursor != null && !MessageCursor.parse(cursor).inArchive()) {
            throw new InvalidConfigurationException("cursor", "is one of messages that are not delivered");
        }
        return cursor == null ? MessageCursor.ARCHIVE.toString() : cursor;
    }

    MessagePage find(Filter filter, String after, int limit) {
        return sessions.transaction(
                "find delivered messages",
                connection ->
                        lists.page(connection, filter, Paging.oldest(limit).after(after)));
    }

    private int foresee(Action action, MessagePage page) {
        List<Redelivery.ArchivePlace> places = Redelivery.places(page.messages());
        return places.isEmpty()
                ? 0
                : sessions.statement(
                        "count delivered messages", connection -> done(redelivery.foresee(connection, action, places)));
    }

    private int step(Action action, Filter filter, Change change, MessagePage page) {
        List<Redelivery.ArchivePlace> places = Redelivery.places(page.messages());
        return places.isEmpty()
                ? 0
                : sessions.transaction(action.name(), connection -> {
                    int done = step(connection, action, places);
                    if (done > 0) {
                        audit.record(
                                connection,
                                change,
                                action.name(),
                                new AuditLog.FilteredChange(filter, done, places.size() - done));
                    }
                    return done;
                });
    }

    /** Redelivers these messages in the transaction of the caller. Returns how many. */
    int step(Connection connection, Action action, List<Redelivery.ArchivePlace> places) throws SQLException {
        return done(redelivery.redeliver(connection, action, places));
    }

    private static int done(Map<Redelivery.Fate, Integer> fates) {
        return fates.getOrDefault(Redelivery.Fate.DONE, 0);
    }
}
