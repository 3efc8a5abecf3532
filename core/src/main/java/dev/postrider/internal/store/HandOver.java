package dev.postrider.internal.store;

import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.store.Claim;
import dev.postrider.store.Lease;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * Connects the code that writes messages with the dispatcher of the same process, for local hand-over. A message can
 * be inserted with a lease of this node and then needs no claim after the commit. Implementations must be
 * thread-safe, must not block and must not throw.
 */
public interface HandOver {

    /**
     * Reserves slots for these messages, just before the statement that inserts them is sent. The lease is counted
     * from this call.
     */
    Reservation reserve(List<Message> messages);

    /** Announces messages that were committed without a lease and can be claimed. */
    void committed(Collection<Message> messages);

    /** Returns a hand-over for a process without a dispatcher. It reserves nothing. */
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
     * The slots reserved for messages of one transaction. It ends with one call of {@link #committed} or
     * {@link #abandoned}, or automatically when the lease ends. Thread-safe.
     */
    interface Reservation {

        /** A reservation without slots. */
        Reservation NONE = new Reservation() {
            @Override
            public Set<MessageId> messages() {
                return Set.of();
            }

            @Override
            public Lease lease() {
                throw new IllegalStateException("no slot was reserved");
            }

            @Override
            public void committed(List<Claim> claims) {}

            @Override
            public void abandoned() {}
        };

        /** Returns the messages that have a slot. Only these messages may be inserted under the lease. */
        Set<MessageId> messages();

        /** Returns the lease for the inserted messages. Its token is made for this transaction alone. */
        Lease lease();

        /**
         * Ends the reservation after the commit was confirmed. The claims are the messages that were inserted under
         * the lease. They are delivered now.
         */
        void committed(List<Claim> claims);

        /**
         * Ends the reservation when the transaction was rolled back or its outcome is unknown. Nothing is delivered.
         */
        void abandoned();
    }
}
