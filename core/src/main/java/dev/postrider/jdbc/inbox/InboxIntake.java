package dev.postrider.jdbc.inbox;

import dev.postrider.error.StoreException;
import dev.postrider.inbox.Accepted;
import dev.postrider.jdbc.outbox.PayloadHash;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.Message;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** Marks one batch of received messages, and sorts it into new messages, duplicates, collisions and too old ones. Not thread-safe. */
final class InboxIntake {

    /** How often a mark may be purged between the insert that met it and the read. More often means another fault. */
    private static final int PURGE_RACES = 5;

    private final InboxStatements statements;
    private final Connection connection;
    private final String consumer;
    private final Function<Message, PayloadHash> hashes;
    private final Set<InboxMark.Key> inserted = new HashSet<>();
    private final Map<InboxMark.Key, InboxMark> found = new HashMap<>();
    private final Set<InboxMark.Key> tooOld = new HashSet<>();

    InboxIntake(
            InboxStatements statements, Connection connection, String consumer, Function<Message, PayloadHash> hashes) {
        this.statements = statements;
        this.connection = connection;
        this.consumer = consumer;
        this.hashes = hashes;
    }

    /** Whether marks were inserted. They must not be committed unless the messages are handled. */
    boolean hasWritten() {
        return !inserted.isEmpty();
    }

    Accepted accept(List<Message> received) throws SQLException {
        Map<InboxMark.Key, InboxMark> marks = new TreeMap<>();
        Set<InboxMark.Key> repeated = new HashSet<>();
        for (Message message : received) {
            InboxMark mark = new InboxMark(
                    InboxMark.Key.of(message), hashes.apply(message).stored(), null);
            if (marks.putIfAbsent(mark.key, mark) != null) {
                repeated.add(mark.key);
            }
        }
        mark(List.copyOf(marks.values()));
        repeated.retainAll(inserted);
        find(repeated);
        return sorted(received);
    }

    /** Inserts the new marks and reads the others. A mark that was purged in between is new after all. */
    private void mark(List<InboxMark> marks) throws SQLException {
        List<InboxMark> open = marks;
        for (int race = 0; !open.isEmpty(); race++) {
            if (race == PURGE_RACES) {
                throw new StoreException(
                        "A mark of the inbox can neither be inserted nor found: run the transaction again", null);
            }
            for (List<InboxMark> chunk : chunks(open)) {
                inserted.addAll(statements.insert(connection, consumer, chunk));
            }
            open = open.stream().filter(mark -> !inserted.contains(mark.key)).toList();
            find(open.stream().map(mark -> mark.key).toList());
            open = open.stream().filter(mark -> !found.containsKey(mark.key)).toList();
            if (!open.isEmpty()) {
                tooOld.addAll(statements.tooOld(
                        connection, open.stream().map(mark -> mark.key).toList()));
                open = open.stream().filter(mark -> !tooOld.contains(mark.key)).toList();
            }
        }
    }

    private void find(Collection<InboxMark.Key> keys) throws SQLException {
        for (List<InboxMark.Key> chunk : chunks(List.copyOf(keys))) {
            found.putAll(statements.find(connection, consumer, chunk));
        }
    }

    private Accepted sorted(List<Message> received) {
        List<Message> fresh = new ArrayList<>();
        List<Accepted.Known> duplicates = new ArrayList<>();
        List<Accepted.Known> collisions = new ArrayList<>();
        List<Message> refused = new ArrayList<>();
        for (Message message : received) {
            InboxMark.Key key = InboxMark.Key.of(message);
            InboxMark mark = found.get(key);
            // Removes the key, because a message that is in the batch twice is new only once.
            if (inserted.remove(key)) {
                fresh.add(message);
            } else if (mark == null) {
                refused.add(message);
            } else {
                List<Accepted.Known> known = hashes.apply(message).matches(mark.payloadHash) ? duplicates : collisions;
                known.add(new Accepted.Known(message, mark.requireSeenAt()));
            }
        }
        return new Accepted(fresh, duplicates, collisions, refused);
    }

    private static <T> List<List<T>> chunks(List<T> all) {
        List<List<T>> chunks = new ArrayList<>();
        for (int start = 0; start < all.size(); start += ValueList.ROWS_PER_STATEMENT) {
            chunks.add(all.subList(start, Math.min(all.size(), start + ValueList.ROWS_PER_STATEMENT)));
        }
        return chunks;
    }
}
