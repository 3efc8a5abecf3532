package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * Carries wake-ups between the nodes of one database, so that messages do not wait for the next poll. A ring may be
 * lost, late, or without cause: polls find every message. Implemented by a module for each database that has such a
 * feature.
 */
public interface Doorbell {

    /**
     * Opens the line that all nodes of one installation share. Does not connect yet.
     *
     * @param name the name of the line: letters, digits and underscores
     */
    Line open(String name);

    /**
     * The endpoint of one node on the line. {@link #ring} and {@link #listen} may block for a while, and each is called
     * by one background thread. A thread that is in a transaction of the application never calls them.
     */
    interface Line extends AutoCloseable {

        /**
         * Wakes the other nodes.
         *
         * @throws dev.postrider.error.StoreException when that fails; the caller tries again
         */
        void ring(Ring ring);

        /**
         * Waits for rings of other nodes, and connects if necessary. A failure is logged once and retried, not thrown.
         */
        Heard listen(Duration atMost);

        /**
         * Frees the resources, and returns without waiting for {@link #ring} and {@link #listen}. A call of them that
         * waits for a server without a response fails soon, and leaves no connection open.
         */
        @Override
        void close();
    }

    /**
     * A wake-up after a commit.
     *
     * @param topics the topics of the commit; empty for any topic
     */
    record Ring(Set<TopicName> topics) {

        /** A wake-up for any topic. */
        public static final Ring ANYWHERE = new Ring(Set.of());

        public Ring {
            topics = Set.copyOf(topics);
        }

        public boolean isAnywhere() {
            return topics.isEmpty();
        }
    }

    /**
     * The result of listening.
     *
     * @param ring the rings of other nodes, merged into one; empty for none
     * @param pause how long to wait before listening again
     */
    record Heard(Optional<Ring> ring, Duration pause) {

        public static Heard ring(Ring ring) {
            return new Heard(Optional.of(ring), Duration.ZERO);
        }

        public static Heard nothing() {
            return new Heard(Optional.empty(), Duration.ZERO);
        }

        /** No ring, and a pause before listening again. */
        public static Heard nothingFor(Duration pause) {
            return new Heard(Optional.empty(), pause);
        }
    }
}
