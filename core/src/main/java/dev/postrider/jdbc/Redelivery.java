package dev.postrider.jdbc;

import dev.postrider.admin.Action;
import dev.postrider.admin.MessageSummary;
import dev.postrider.jdbc.outbox.LaneHash;
import dev.postrider.jdbc.outbox.MessageAttributes;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.MessageId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes delivered messages from the archive to the queue again, in the transaction of its caller. A row of the archive is marked in the same
 * transaction and is redelivered once, so two operators cannot redeliver a message twice. The payload stays in the database, compressed as it
 * is. Messages of an ordered topic come after those that are in the queue. Stateless, thread-safe.
 */
final class Redelivery {

    private static final String NEWEST =
            "SELECT m.seq, m.delivered_at FROM {archive} m WHERE m.id = ? ORDER BY m.delivered_at DESC, m.seq DESC LIMIT 1";

    private static final String READ = """
            SELECT m.seq, m.id, m.topic_id, m.topic, m.type, m.tenant, m.ordering_key, m.idempotency_key, m.content_type, m.attributes,
                   m.created_at, m.delivered_at, m.redelivered_at, CASE WHEN m.payload IS NULL THEN 0 ELSE 1 END AS has_payload
            FROM {archive} m{by key}
            WHERE m.delivered_at >= ? AND m.delivered_at <= ? AND m.seq IN ({values})
            ORDER BY m.delivered_at, m.seq
            """;

    /** Skips rows that another operator redelivers, or that a purge removes. */
    static final String LOCK = READ + "FOR UPDATE SKIP LOCKED";

    private static final String LIVE_IDS = "SELECT id FROM {message} WHERE id IN ({values})";

    private static final String TOPICS = "SELECT id, lanes FROM {topic} WHERE removed_at IS NULL";

    static final String INSERT = """
            INSERT INTO {message} (id, topic_id, available_at, created_at, topic, type, tenant, ordering_key, idempotency_key, content_type,
                                   payload, attributes, lane)
            VALUES (?, ?, {now}, {now}, ?, ?, ?, ?, ?, ?, (SELECT a.payload FROM {archive} a WHERE a.delivered_at = ? AND a.seq = ?), ?, ?)
            """;

    static final String MARK =
            "UPDATE {archive} SET redelivered_at = {now} WHERE delivered_at = ? AND seq = ? AND redelivered_at IS NULL";

    /** The primary key of a row of the archive. */
    record ArchivePlace(Instant deliveredAt, long seq) {

        private static final Comparator<ArchivePlace> IN_ORDER =
                Comparator.comparing(ArchivePlace::deliveredAt).thenComparing(ArchivePlace::seq);
    }

    /** What became of a row of the archive. */
    enum Fate {
        DONE,
        NO_PAYLOAD,
        /** It was redelivered before. */
        REPEATED,
        /** A message with its id is in the queue. */
        LIVE,
        /** Its topic was removed. */
        NO_TOPIC,
        /** Other software has changed it, so that it makes no message. */
        UNREADABLE,
        /** Another session has locked it, or it was purged. */
        LOCKED
    }

    /** @param occurredAt the time of the event, as a reader of the row would find it outside the attributes */
    private record ArchivedRow(
            ArchivePlace place,
            UUID id,
            int topicId,
            StoredTexts texts,
            Instant occurredAt,
            boolean redelivered,
            boolean hasPayload) {}

    /** The texts of a row as they are stored. */
    private record StoredTexts(
            String topic,
            String type,
            @Nullable String tenant,
            @Nullable String orderingKey,
            @Nullable String idempotencyKey,
            @Nullable String contentType,
            @Nullable String attributes) {}

    private final SqlRunner sql;

    Redelivery(SqlRunner sql) {
        this.sql = sql;
    }

    /** Finds the last delivery of a message. */
    Optional<ArchivePlace> newest(Connection connection, MessageId id) throws SQLException {
        return sql.query(
                connection,
                NEWEST,
                binder -> binder.uuid(id.value()),
                row -> row.next() ? Optional.of(place(row)) : Optional.empty());
    }

    /** Counts by their fate what {@link #redeliver} would do now, and changes nothing. */
    Map<Fate, Integer> foresee(Connection connection, Action action, List<ArchivePlace> places) throws SQLException {
        return each(connection, action, read(connection, READ, places), places.size(), (row, lane) -> Fate.DONE);
    }

    /** Writes these messages to the queue, in the order of their delivery. Returns how many had which fate. */
    Map<Fate, Integer> redeliver(Connection connection, Action action, List<ArchivePlace> places) throws SQLException {
        return each(
                connection,
                action,
                read(connection, LOCK, places),
                places.size(),
                (row, lane) -> write(connection, action, row, lane));
    }

    @FunctionalInterface
    private interface RowTransfer {
        Fate write(ArchivedRow row, @Nullable Integer lane) throws SQLException;
    }

    private Map<Fate, Integer> each(
            Connection connection, Action action, List<ArchivedRow> rows, int wanted, RowTransfer transfer)
            throws SQLException {
        Map<Fate, Integer> fates = new EnumMap<>(Fate.class);
        Map<Integer, Integer> lanes = lanes(connection);
        boolean sameIds = action == Action.REDELIVER;
        Set<UUID> live = sameIds ? live(connection, rows) : new HashSet<>();
        for (ArchivedRow row : rows) {
            Fate fate = obstacle(row, lanes.get(row.topicId()), live);
            if (fate == Fate.DONE) {
                fate = transfer.write(row, lane(row, lanes));
            }
            if (fate == Fate.DONE && sameIds) {
                live.add(row.id());
            }
            fates.merge(fate, 1, Integer::sum);
        }
        if (rows.size() < wanted) {
            fates.merge(Fate.LOCKED, wanted - rows.size(), Integer::sum);
        }
        return fates;
    }

    /** @param lanes null if the topic is not registered any more */
    private static Fate obstacle(ArchivedRow row, @Nullable Integer lanes, Set<UUID> live) {
        if (row.redelivered()) {
            return Fate.REPEATED;
        }
        if (!row.hasPayload()) {
            return Fate.NO_PAYLOAD;
        }
        if (lanes == null) {
            return Fate.NO_TOPIC;
        }
        if (lanes > 0 && row.texts().orderingKey() == null) {
            return Fate.UNREADABLE;
        }
        return live.contains(row.id()) ? Fate.LIVE : Fate.DONE;
    }

    private static @Nullable Integer lane(ArchivedRow row, Map<Integer, Integer> lanes) {
        int count = Objects.requireNonNull(lanes.get(row.topicId()));
        String key = row.texts().orderingKey();
        return count == 0 || key == null ? null : LaneHash.of(row.texts().tenant(), key, count);
    }

    /** Numbers follow the order of the statements, so each message is one. */
    private Fate write(Connection connection, Action action, ArchivedRow row, @Nullable Integer lane)
            throws SQLException {
        boolean asNew = action == Action.REDELIVER_AS_NEW;
        MessageId id = asNew ? MessageId.next() : new MessageId(row.id());
        StoredTexts texts = row.texts();
        @Nullable String attributes;
        try {
            attributes = attributes(row, asNew);
        } catch (IllegalArgumentException e) {
            return Fate.UNREADABLE;
        }
        try {
            int inserted = sql.update(
                    connection,
                    INSERT,
                    binder -> binder.uuid(id.value())
                            .integer(row.topicId())
                            .text(texts.topic())
                            .text(texts.type())
                            .text(texts.tenant())
                            .text(texts.orderingKey())
                            .text(asNew ? null : texts.idempotencyKey())
                            .text(texts.contentType())
                            .time(row.place().deliveredAt())
                            .number(row.place().seq())
                            .text(attributes)
                            .small(lane));
            SqlRunner.expect(1, inserted, "redeliver a message");
        } catch (SQLException e) {
            throw SqlErrors.isDuplicateKey(e) ? writtenMeanwhile(e) : e;
        }
        int marked = sql.update(
                connection,
                MARK,
                binder -> binder.time(row.place().deliveredAt())
                        .number(row.place().seq()));
        SqlRunner.expect(1, marked, "mark a redelivered message");
        return Fate.DONE;
    }

    /** The transaction runs again, and finds the message in the queue. */
    private static SQLException writtenMeanwhile(SQLException duplicate) {
        return new SQLException("A message with the same id was written meanwhile", "40001", duplicate);
    }

    private static @Nullable String attributes(ArchivedRow row, boolean asNew) {
        MessageId old = new MessageId(row.id());
        boolean timeIsInTheId = !asNew && old.time() != null;
        return MessageAttributes.again(
                row.texts().attributes(), asNew ? old.toString() : null, timeIsInTheId ? null : row.occurredAt());
    }

    private List<ArchivedRow> read(Connection connection, String select, List<ArchivePlace> places)
            throws SQLException {
        if (places.isEmpty()) {
            return List.of();
        }
        List<ArchivePlace> inOrder =
                places.stream().sorted(ArchivePlace.IN_ORDER).toList();
        Set<ArchivePlace> wanted = new HashSet<>(inOrder);
        List<Long> seqs = inOrder.stream().map(ArchivePlace::seq).toList();
        return sql.query(
                connection,
                ValueList.in(select, seqs.size()),
                binder -> ValueList.bindNumbers(
                        binder.time(inOrder.get(0).deliveredAt())
                                .time(inOrder.get(inOrder.size() - 1).deliveredAt()),
                        seqs),
                found -> {
                    List<ArchivedRow> rows = new ArrayList<>();
                    while (found.next()) {
                        ArchivedRow row = row(found);
                        if (wanted.contains(row.place())) {
                            rows.add(row);
                        }
                    }
                    return rows;
                });
    }

    private ArchivePlace place(ResultSet row) throws SQLException {
        return new ArchivePlace(Objects.requireNonNull(sql.readTime(row, "delivered_at")), row.getLong("seq"));
    }

    private ArchivedRow row(ResultSet row) throws SQLException {
        UUID id = sql.readUuid(row, "id");
        Instant inId = new MessageId(id).time();
        return new ArchivedRow(
                place(row),
                id,
                row.getInt("topic_id"),
                new StoredTexts(
                        row.getString("topic"),
                        row.getString("type"),
                        row.getString("tenant"),
                        row.getString("ordering_key"),
                        row.getString("idempotency_key"),
                        row.getString("content_type"),
                        row.getString("attributes")),
                inId == null ? Objects.requireNonNull(sql.readTime(row, "created_at")) : inId,
                sql.readTime(row, "redelivered_at") != null,
                row.getInt("has_payload") == 1);
    }

    private Set<UUID> live(Connection connection, List<ArchivedRow> rows) throws SQLException {
        List<UUID> ids = rows.stream().map(ArchivedRow::id).distinct().toList();
        return ids.isEmpty()
                ? new HashSet<>()
                : sql.query(
                        connection,
                        ValueList.in(LIVE_IDS, ids.size()),
                        binder -> ValueList.bindUuids(binder, ids),
                        sql::ids);
    }

    /** Returns the numbers of lanes of the registered topics, by the number of the topic. */
    private Map<Integer, Integer> lanes(Connection connection) throws SQLException {
        return sql.query(connection, TOPICS, binder -> {}, row -> {
            Map<Integer, Integer> lanes = new HashMap<>();
            while (row.next()) {
                lanes.put(row.getInt("id"), row.getInt("lanes"));
            }
            return lanes;
        });
    }

    /** Returns the places of a page of the archive. */
    static List<ArchivePlace> places(List<MessageSummary> page) {
        List<ArchivePlace> places = new ArrayList<>();
        for (MessageSummary summary : page) {
            places.add(new ArchivePlace(Objects.requireNonNull(summary.deliveredAt()), summary.seq()));
        }
        return places;
    }
}
