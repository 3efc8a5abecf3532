package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * Tells the nodes of one database of each other's commits, so that they need not wait for their next poll. It may lose a ring, be
 * late, or ring without cause: polling stays the truth. Implemented by a module for each database that has such a thing.
 */
public interface Doorbell {

    /**
     * Takes a place on the line that all nodes of one installation share. Connects to nothing yet.
     *
     * @param name the name of the line: letters, digits and underscores
     */
    Line open(String name);

    /**
     * A node's place on the line. {@link #ring} and {@link #listen} may block for a while, and are each called by one background
     * thread; neither is ever called by a thread that is in a transaction of the application's.
     */
    interface Line extends AutoCloseable {

        /**
         * Tells the other nodes.
         *
         * @throws dev.postrider.error.StoreException when it cannot: it is tried again
         */
        void ring(Ring ring);

        /** Waits for others to ring, connecting if need be. Trouble is reported once and then waited out, not thrown. */
        Heard listen(Duration atMost);

        /**
         * Frees what it holds, and returns without waiting for the others. One of them may be under way, on a server that does not answer:
         * it fails soon, and leaves no connection open.
         */
        @Override
        void close();
    }

    /**
     * Something was committed.
     *
     * @param topics where; empty for anywhere
     */
    record Ring(Set<TopicName> topics) {

        /** Something was committed in some topic. */
        public static final Ring ANYWHERE = new Ring(Set.of());

        public Ring {
            topics = Set.copyOf(topics);
        }

        public boolean isAnywhere() {
            return topics.isEmpty();
        }
    }

    /**
     * What came of listening.
     *
     * @param ring what others rang for, all of it together; empty for nothing
     * @param pause how long to wait before listening again
     */
    record Heard(Optional<Ring> ring, Duration pause) {

        public static Heard ring(Ring ring) {
            return new Heard(Optional.of(ring), Duration.ZERO);
        }

        public static Heard nothing() {
            return new Heard(Optional.empty(), Duration.ZERO);
        }

        /** Nothing, and there is no use in listening for a while. */
        public static Heard nothingFor(Duration pause) {
            return new Heard(Optional.empty(), pause);
        }
    }
}
