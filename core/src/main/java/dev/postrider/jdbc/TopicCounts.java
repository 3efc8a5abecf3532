package dev.postrider.jdbc;

import dev.postrider.admin.Count;
import dev.postrider.admin.Sample;
import dev.postrider.admin.TopicSample;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Counts the messages of single topics for one sample. */
final class TopicCounts {

    private static final String EXPIRED_LANES =
            "SELECT COUNT(*) FROM {lane} WHERE topic_id = ? AND owner IS NOT NULL AND until < ?";

    /** A registered topic. */
    record CountedTopic(int id, TopicName name, boolean isOrdered, boolean isPaused, boolean isRemoved) {}

    /** The parts of the statements, and the states that each of them counts. It may read others, which another part counts. */
    private enum CountedPart {
        DUE,
        LATER,
        LANES,
        TIMED,
        HEADS,
        BEHIND,
        LEASED,
        DEAD;

        boolean counts(RowState state) {
            return switch (this) {
                case DUE, LATER, LANES -> state == RowState.PENDING;
                case TIMED -> state == RowState.SCHEDULED;
                case HEADS -> state == RowState.RETRY || state == RowState.PARKED;
                case BEHIND -> state == RowState.BLOCKED;
                case LEASED -> state == RowState.PROCESSING;
                case DEAD -> state == RowState.DEAD;
            };
        }
    }

    private enum CountedState {
        WAITING,
        SCHEDULED,
        RETRYING,
        PROCESSING,
        BLOCKED,
        PARKED,
        DEAD,
        ATTEMPTED,
        EXPIRED
    }

    private final SqlRunner sql;
    private final SampleStatements statements;
    private final Instant now;
    private final int limit;

    /**
     * @param now the time of the sample, by the clock of the database. PostgreSQL needs it as a value to use it with an index
     * @param limit the largest number of rows that one part of a statement reads
     */
    TopicCounts(SqlRunner sql, Instant now, int limit) {
        this.sql = sql;
        this.statements = SampleStatements.of(sql);
        this.now = now;
        this.limit = limit;
    }

    /** @param nodes the number of live nodes that deliver the topic */
    TopicSample take(Connection connection, CountedTopic topic, int nodes) throws SQLException {
        Tally tally = topic.isOrdered()
                ? sql.query(connection, statements.ordered(), binder -> ordered(binder, topic.id()), this::tally)
                : sql.query(connection, statements.unordered(), binder -> unordered(binder, topic.id()), this::tally);
        Count blockedKeys = Count.ZERO;
        if (topic.isOrdered()) {
            blockedKeys = new Count(
                    blockedKeys(connection, topic.id()),
                    tally.of(CountedState.PARKED).exact());
            tally.add(CountedState.EXPIRED, expiredLanes(connection, topic.id()));
            oldestInLanes(connection, topic.id()).ifPresent(tally::oldest);
        }
        return new TopicSample(
                topic.name(),
                topic.isPaused(),
                nodes,
                tally.of(CountedState.WAITING),
                tally.of(CountedState.SCHEDULED),
                tally.of(CountedState.RETRYING),
                tally.of(CountedState.PROCESSING),
                tally.of(CountedState.BLOCKED),
                tally.of(CountedState.PARKED),
                tally.of(CountedState.DEAD),
                blockedKeys,
                tally.of(CountedState.ATTEMPTED),
                tally.of(CountedState.EXPIRED),
                tally.age(now));
    }

    private void unordered(Binder binder, int topicId) throws SQLException {
        part(binder, topicId).time(now).integer(limit + 1);
        part(binder, topicId).time(now).integer(limit + 1);
        part(binder, topicId).integer(limit + 1);
        part(binder, topicId).integer(limit + 1);
    }

    private void ordered(Binder binder, int topicId) throws SQLException {
        for (int part = 0; part < 6; part++) {
            part(binder, topicId).integer(limit + 1);
        }
    }

    private Binder part(Binder binder, int topicId) throws SQLException {
        return binder.integer(Sample.ATTEMPTS).time(now).time(now).integer(topicId);
    }

    private long blockedKeys(Connection connection, int topicId) throws SQLException {
        return sql.query(
                connection,
                statements.blockedKeys(),
                binder -> binder.integer(topicId).integer(limit + 1),
                TopicCounts::number);
    }

    private long expiredLanes(Connection connection, int topicId) throws SQLException {
        return sql.query(
                connection, EXPIRED_LANES, binder -> binder.integer(topicId).time(now), TopicCounts::number);
    }

    private static long number(ResultSet row) throws SQLException {
        row.next();
        return row.getLong(1);
    }

    private Optional<Instant> oldestInLanes(Connection connection, int topicId) throws SQLException {
        return sql.query(
                connection,
                statements.oldestInLanes(),
                binder -> binder.integer(topicId),
                row -> row.next() ? Optional.ofNullable(sql.readTime(row, 1)) : Optional.empty());
    }

    private Tally tally(ResultSet row) throws SQLException {
        Tally tally = new Tally();
        Map<CountedPart, Long> read = new EnumMap<>(CountedPart.class);
        while (row.next()) {
            CountedPart part = CountedPart.valueOf(row.getString("part"));
            RowState state = RowState.read(row);
            long found = row.getLong("found");
            read.merge(part, found, Long::sum);
            if (part.counts(state)) {
                tally.count(part, state, found, row.getLong("retried"));
                tally.add(CountedState.EXPIRED, row.getLong("expired"));
                if (state != RowState.DEAD) {
                    tally.add(CountedState.ATTEMPTED, row.getLong("attempted"));
                    tally.oldest(sql.readTime(row, "oldest"));
                }
            }
        }
        read.forEach((part, found) -> tally.read(part, found > limit));
        return tally;
    }

    /** The counts of one topic. */
    private static final class Tally {

        private final Map<CountedState, Count> counts = new EnumMap<>(CountedState.class);
        private @Nullable Instant oldest;

        void count(CountedPart part, RowState state, long found, long retried) {
            switch (state) {
                case PENDING, SCHEDULED -> {
                    boolean isDue = part == CountedPart.DUE || part == CountedPart.LANES;
                    add(isDue ? CountedState.WAITING : CountedState.SCHEDULED, found - retried);
                    add(CountedState.RETRYING, retried);
                }
                case RETRY -> add(CountedState.RETRYING, found);
                case PROCESSING -> add(CountedState.PROCESSING, found);
                case BLOCKED -> add(CountedState.BLOCKED, found);
                case PARKED -> add(CountedState.PARKED, found);
                case DEAD -> add(CountedState.DEAD, found);
            }
        }

        void add(CountedState counted, long more) {
            counts.merge(counted, Count.exactly(more), Count::plus);
        }

        /** @param isCut whether the part may have left out rows */
        void read(CountedPart part, boolean isCut) {
            if (isCut) {
                switch (part) {
                    case DUE, LANES -> atLeast(CountedState.WAITING, CountedState.RETRYING, CountedState.ATTEMPTED);
                    case LATER, TIMED -> atLeast(CountedState.SCHEDULED, CountedState.RETRYING, CountedState.ATTEMPTED);
                    case HEADS -> atLeast(CountedState.RETRYING, CountedState.PARKED, CountedState.ATTEMPTED);
                    case BEHIND -> atLeast(CountedState.BLOCKED, CountedState.ATTEMPTED);
                    case LEASED -> atLeast(CountedState.PROCESSING, CountedState.EXPIRED, CountedState.ATTEMPTED);
                    case DEAD -> atLeast(CountedState.DEAD);
                }
            }
        }

        private void atLeast(CountedState... kinds) {
            for (CountedState counted : kinds) {
                counts.merge(counted, new Count(0, false), Count::plus);
            }
        }

        void oldest(@Nullable Instant time) {
            if (time != null && (oldest == null || time.isBefore(oldest))) {
                oldest = time;
            }
        }

        Count of(CountedState counted) {
            return counts.getOrDefault(counted, Count.ZERO);
        }

        Duration age(Instant now) {
            Instant first = oldest;
            return first == null || first.isAfter(now) ? Duration.ZERO : Duration.between(first, now);
        }
    }
}
