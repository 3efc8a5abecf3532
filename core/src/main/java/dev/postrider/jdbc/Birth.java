package dev.postrider.jdbc;

import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.store.Claim;
import dev.postrider.store.HandOver;
import dev.postrider.store.Lease;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Rows of one transaction that are to be inserted under a lease, and those that then were: not a duplicate, nor one of a topic that
 * is paused. Not thread-safe.
 */
final class Birth {

    private final Set<MessageId> wanted;
    private final Lease lease;
    private final Map<UUID, Long> born = new HashMap<>();

    Birth(HandOver.Reservation reservation) {
        this.wanted = reservation.messages();
        this.lease = reservation.lease();
    }

    boolean isWanted(NewRow row) {
        return wanted.contains(row.message().id());
    }

    List<NewRow> wanted(Collection<NewRow> rows) {
        return rows.stream().filter(this::isWanted).toList();
    }

    Lease lease() {
        return lease;
    }

    /** The row was inserted under the lease. */
    void born(UUID id, long seq) {
        born.put(id, seq);
    }

    boolean isBorn(MessageId id) {
        return born.containsKey(id.value());
    }

    /** The first attempt of each. The database counts it with the outcome. */
    List<Claim> claims(Collection<Message> messages) {
        Map<UUID, Long> remaining = new HashMap<>(born); // the same message given twice was inserted once
        List<Claim> claims = new ArrayList<>(born.size());
        for (Message message : messages) {
            Long seq = remaining.remove(message.id().value());
            if (seq != null) {
                claims.add(new Claim(seq, message.asReceived(), 1, 0, lease));
            }
        }
        return claims;
    }
}
