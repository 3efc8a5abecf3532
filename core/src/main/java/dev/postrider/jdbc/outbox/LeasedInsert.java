package dev.postrider.jdbc.outbox;

import dev.postrider.internal.store.HandOver;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.store.Claim;
import dev.postrider.store.Lease;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The local hand-over of one transaction: the rows to insert under a lease, and the rows that were inserted so. Duplicates and rows
 * of a paused topic are not leased. Not thread-safe.
 */
public final class LeasedInsert {

    private final Set<MessageId> wanted;
    private final Lease lease;
    private final Map<UUID, Long> inserted = new HashMap<>();

    LeasedInsert(HandOver.Reservation reservation) {
        this.wanted = reservation.messages();
        this.lease = reservation.lease();
    }

    public boolean isWanted(NewRow row) {
        return wanted.contains(row.message().id());
    }

    List<NewRow> wanted(Collection<NewRow> rows) {
        return rows.stream().filter(this::isWanted).toList();
    }

    public Lease lease() {
        return lease;
    }

    /** Notes that the row was inserted under the lease. */
    public void inserted(UUID id, long seq) {
        inserted.put(id, seq);
    }

    Binder bindLease(Binder binder) throws SQLException {
        return binder.uuid(lease.token()).text(lease.holder()).micros(lease.length());
    }

    /** Reads the ids of inserted rows. A row that was inserted under the lease comes with its number. */
    Set<UUID> read(ResultSet rows, SqlRunner sql) throws SQLException {
        Set<UUID> ids = new HashSet<>();
        while (rows.next()) {
            ids.add(readWritten(rows, sql, this));
        }
        return ids;
    }

    /** Reads the id of an inserted row, and its number if it was inserted under a lease. */
    static UUID readWritten(ResultSet row, SqlRunner sql, @Nullable LeasedInsert leasedInsert) throws SQLException {
        UUID id = sql.readUuid(row, "id");
        if (leasedInsert != null) {
            long seq = row.getLong("seq");
            if (!row.wasNull()) {
                leasedInsert.inserted(id, seq);
            }
        }
        return id;
    }

    boolean isInserted(MessageId id) {
        return inserted.containsKey(id.value());
    }

    /** Returns the claims of the leased messages, at their first attempt. The outcome writes that attempt to the database. */
    List<Claim> claims(Collection<Message> messages) {
        Map<UUID, Long> remaining = new HashMap<>(inserted); // a message that is listed twice was inserted once
        List<Claim> claims = new ArrayList<>(inserted.size());
        for (Message message : messages) {
            Long seq = remaining.remove(message.id().value());
            if (seq != null) {
                claims.add(new Claim(seq, message.asReceived(), 1, 0, lease));
            }
        }
        return claims;
    }
}
