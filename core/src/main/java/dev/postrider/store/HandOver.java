package dev.postrider.store;

import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * Where whoever writes messages meets whoever delivers them in the same process. A message that is about to be written may be
 * taken over there and then: it is inserted under a lease of this node, and needs no claim after the commit. Implementations are
 * thread-safe, answer at once, and throw nothing.
 */
public interface HandOver {

    /** Asks for places, just before the statement that writes these messages is sent: the lease is counted from here. */
    Reservation reserve(List<Message> messages);

    /** These were written and committed, and nobody holds them: they can be claimed. */
    void committed(Collection<Message> messages);

    /** Nobody delivers in this process. */
    static HandOver none() {
        return new HandOver() {
            @Override
            public Reservation reserve(List<Message> messages) {
                return Reservation.NONE;
            }

            @Override
            public void committed(Collection<Message> messages) {}
        };
    }

    /**
     * Places kept free for messages of one transaction. Ends with one call of {@link #committed} or {@link #abandoned}; without,
     * by itself when the lease is over. Thread-safe.
     */
    interface Reservation {

        /** No place for any of them. */
        Reservation NONE = new Reservation() {
            @Override
            public Set<MessageId> messages() {
                return Set.of();
            }

            @Override
            public Lease lease() {
                throw new IllegalStateException("nothing was reserved");
            }

            @Override
            public void committed(List<Claim> claims) {}

            @Override
            public void abandoned() {}
        };

        /** For which there is a place: these, and no others, may be inserted under the lease. */
        Set<MessageId> messages();

        /** The lease to insert them under, with a token made for this transaction alone. */
        Lease lease();

        /** The transaction's commit was answered; these messages of it were inserted under the lease. They are delivered now. */
        void committed(List<Claim> claims);

        /** The transaction was rolled back, or nobody knows what became of it: nothing is delivered. */
        void abandoned();
    }
}
