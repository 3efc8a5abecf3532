package dev.postrider.jdbc;

import dev.postrider.jdbc.outbox.LaneHash;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Business transactions that write messages into the simulated database. Each message of a key comes under a lock on a row for it. */
public final class SimulatedWriter {

    private final SimulatedDatabase database;
    private final Map<String, Cell<Integer>> counters = new LinkedHashMap<>();

    public SimulatedWriter(SimulatedDatabase database) {
        this.database = database;
    }

    /** One transaction, to be ended by either of its last two methods. */
    public final class Open {

        private final Session session;

        private Open(Session session) {
            this.session = session;
        }

        /** @param message made from its place in its key, from 1; 0 on unordered topics */
        public UUID write(TopicName topic, @Nullable String key, IntFunction<Message> message) throws SQLException {
            Topics.RegisteredTopic registered = Objects.requireNonNull(database.topic(topic));
            return session.run("write", transaction -> {
                transaction.isProducer = true;
                int place = key == null ? 0 : count(transaction, topic + "/" + key);
                Message made = message.apply(place);
                session.meanwhile(transaction);
                database.awaitGap(transaction, registered.id());
                Integer lane = registered.lanes() == 0
                        ? null
                        : Integer.valueOf(LaneHash.of(null, Objects.requireNonNull(key), registered.lanes()));
                long now = database.micros();
                java.time.Instant deliverAt = made.deliverAt();
                long due = deliverAt == null ? now : Math.max(now, deliverAt.toEpochMilli() * 1000);
                RowState state = lane != null && due > now ? RowState.SCHEDULED : RowState.PENDING;
                long seq = database.drawNumber(transaction);
                database.insert(transaction, new Row(seq, made, registered.id(), lane, state, due));
                return made.id().value();
            });
        }

        public void commit() throws SQLException {
            session.connection().commit();
            session.connection().close();
        }

        public void rollback() throws SQLException {
            session.connection().rollback();
            session.connection().close();
        }
    }

    public Open begin() throws SQLException {
        Session session = database.connect();
        session.connection().setAutoCommit(false);
        return new Open(session);
    }

    private int count(Transaction transaction, String key) throws SQLException {
        Cell<Integer> cell = counters.computeIfAbsent(key, absent -> new Cell<>());
        database.lock(cell, transaction, false);
        Integer last = cell.seenBy(transaction);
        int next = last == null ? 1 : last + 1;
        cell.pending = next;
        cell.isChanged = true;
        return next;
    }
}
