package dev.postrider.jdbc.inbox;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The mark of a message that a consumer has received, either to be inserted or as it was read. */
public final class InboxMark {

    /** Identifies a message of one consumer. Comparable, so that every transaction locks its marks in the same order. */
    public record Key(MessageId id, String tenant) implements Comparable<Key> {

        private static final Comparator<Key> ORDER =
                Comparator.comparing(Key::id).thenComparing(Key::tenant);

        /** A message without a tenant has the empty tenant here. */
        static Key of(Message message) {
            String tenant = message.tenant();
            return new Key(message.id(), tenant == null ? "" : tenant);
        }

        static Key read(ResultSet row, SqlRunner sql) throws SQLException {
            return new Key(new MessageId(sql.readUuid(row, "message_id")), row.getString("tenant"));
        }

        @Override
        public int compareTo(Key other) {
            return ORDER.compare(this, other);
        }
    }

    public final Key key;
    public final byte[] payloadHash;
    private final @Nullable Instant seenAt;

    public InboxMark(Key key, byte[] payloadHash, @Nullable Instant seenAt) {
        this.key = key;
        this.payloadHash = payloadHash;
        this.seenAt = seenAt;
    }

    static Map<Key, InboxMark> read(ResultSet rows, SqlRunner sql) throws SQLException {
        Map<Key, InboxMark> marks = new HashMap<>();
        while (rows.next()) {
            Key key = Key.read(rows, sql);
            marks.put(key, new InboxMark(key, rows.getBytes("payload_hash"), sql.readTime(rows, "seen_at")));
        }
        return marks;
    }

    /** Binds the columns of the mark: message id, consumer, tenant and payload hash. */
    void bind(Binder binder, String consumer) throws SQLException {
        binder.uuid(key.id().value()).text(consumer).text(key.tenant()).bytes(payloadHash);
    }

    /** When the message was first received. Only for marks that were read from the table. */
    Instant requireSeenAt() {
        if (seenAt == null) {
            throw new IllegalStateException("the mark was not read from the table");
        }
        return seenAt;
    }
}
