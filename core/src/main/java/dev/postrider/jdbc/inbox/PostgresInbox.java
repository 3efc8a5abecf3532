package dev.postrider.jdbc.inbox;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.MessageId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** The inbox on PostgreSQL: one statement for each operation. */
final class PostgresInbox implements InboxStatements {

    /**
     * Inserts one mark. An id of version 7 below the floor is refused, even if it was never received. The version of a UUID is in the
     * upper half of its seventh byte.
     */
    static final String INSERT_ONE = """
            INSERT INTO {inbox_mark} (message_id, consumer, tenant, payload_hash)
            SELECT mark.message_id, mark.consumer, mark.tenant, mark.payload_hash
            FROM (SELECT ?::uuid, ?::varchar, ?::varchar, ?::bytea) AS mark (message_id, consumer, tenant, payload_hash)
            WHERE NOT EXISTS (SELECT FROM {inbox_floor}
                              WHERE mark.message_id < floor AND get_byte(uuid_send(mark.message_id), 6) >> 4 = 7)
            ON CONFLICT DO NOTHING
            """;

    static final String INSERT = """
            INSERT INTO {inbox_mark} (message_id, consumer, tenant, payload_hash)
            SELECT mark.message_id, ?, mark.tenant, mark.payload_hash
            FROM unnest(?::uuid[], ?::text[], ?::bytea[]) WITH ORDINALITY AS mark (message_id, tenant, payload_hash, place)
            WHERE NOT EXISTS (SELECT FROM {inbox_floor}
                              WHERE mark.message_id < floor AND get_byte(uuid_send(mark.message_id), 6) >> 4 = 7)
            ORDER BY mark.place
            ON CONFLICT DO NOTHING
            RETURNING message_id, tenant
            """;

    static final String FIND = """
            SELECT m.message_id, m.tenant, m.payload_hash, m.seen_at
            FROM unnest(?::uuid[], ?::text[]) AS wanted (message_id, tenant)
            JOIN {inbox_mark} m ON m.message_id = wanted.message_id AND m.consumer = ? AND m.tenant = wanted.tenant
            """;

    static final String TOO_OLD = """
            SELECT wanted.message_id FROM unnest(?::uuid[]) AS wanted (message_id)
            JOIN {inbox_floor} ON wanted.message_id < floor AND get_byte(uuid_send(wanted.message_id), 6) >> 4 = 7
            """;

    /** The outer condition repeats the age: a mark that was removed and inserted again while the statement waited for it stays. */
    static final String PURGE = """
            WITH old AS MATERIALIZED (
                SELECT message_id, consumer, tenant FROM {inbox_mark}
                WHERE seen_at < statement_timestamp() - ? * interval '1 microsecond'
                  AND seen_at >= statement_timestamp() - ? * interval '1 microsecond'
                ORDER BY seen_at LIMIT ? FOR UPDATE SKIP LOCKED
            )
            DELETE FROM {inbox_mark} AS m USING old
            WHERE m.message_id = old.message_id AND m.consumer = old.consumer AND m.tenant = old.tenant
              AND m.seen_at < statement_timestamp() - ? * interval '1 microsecond'
            """;

    /** For a partitioned table: days are dropped as partitions, so only marks that belong to no day are purged row by row. */
    static final String PURGE_DEFAULT = PURGE.replace("{inbox_mark}", "{inbox_mark_default}");

    private static final String CHECK_VIOLATION = "23514";

    private final SqlRunner sql;

    PostgresInbox(SqlRunner sql) {
        this.sql = sql;
    }

    /** False: after an error, a transaction can only be rolled back. */
    @Override
    public boolean canLoseATransaction() {
        return false;
    }

    /**
     * Reports a check violation as a serialization failure. The only check constraints on marks are those of partitions: the partition
     * of the mark's day was created or dropped while the mark was being inserted into the default partition. A new transaction with a
     * new snapshot sees the change.
     */
    @Override
    public Set<InboxMark.Key> insert(Connection connection, String consumer, List<InboxMark> marks)
            throws SQLException {
        try {
            return marks.size() == 1
                    ? insertOne(connection, consumer, marks.get(0))
                    : insertMany(connection, consumer, marks);
        } catch (SQLException e) {
            throw CHECK_VIOLATION.equals(e.getSQLState())
                    ? new SQLException("A daily partition of the inbox was created or dropped meanwhile", "40001", e)
                    : e;
        }
    }

    private Set<InboxMark.Key> insertMany(Connection connection, String consumer, List<InboxMark> marks)
            throws SQLException {
        return sql.query(
                connection,
                INSERT,
                binder -> keys(
                                binder.text(consumer),
                                marks.stream().map(mark -> mark.key).toList())
                        .array(
                                "bytea",
                                marks.stream().map(mark -> mark.payloadHash).toArray(byte[][]::new)),
                rows -> {
                    Set<InboxMark.Key> inserted = new HashSet<>();
                    while (rows.next()) {
                        inserted.add(InboxMark.Key.read(rows, sql));
                    }
                    return inserted;
                });
    }

    private Set<InboxMark.Key> insertOne(Connection connection, String consumer, InboxMark mark) throws SQLException {
        int inserted = sql.update(connection, INSERT_ONE, binder -> mark.bind(binder, consumer));
        return inserted == 1 ? Set.of(mark.key) : Set.of();
    }

    @Override
    public Map<InboxMark.Key, InboxMark> find(Connection connection, String consumer, Collection<InboxMark.Key> keys)
            throws SQLException {
        return sql.query(
                connection, FIND, binder -> keys(binder, keys).text(consumer), rows -> InboxMark.read(rows, sql));
    }

    @Override
    public Set<InboxMark.Key> tooOld(Connection connection, Collection<InboxMark.Key> keys) throws SQLException {
        Set<UUID> old = sql.query(connection, TOO_OLD, binder -> binder.array("uuid", ids(keys)), rows -> {
            Set<UUID> found = new HashSet<>();
            while (rows.next()) {
                found.add(sql.readUuid(rows, "message_id"));
            }
            return found;
        });
        return keys.stream().filter(key -> old.contains(key.id().value())).collect(Collectors.toSet());
    }

    private static Binder keys(Binder binder, Collection<InboxMark.Key> keys) throws SQLException {
        return binder.array("uuid", ids(keys))
                .array("text", keys.stream().map(InboxMark.Key::tenant).toArray());
    }

    private static Object[] ids(Collection<InboxMark.Key> keys) {
        return keys.stream().map(InboxMark.Key::id).map(MessageId::value).toArray();
    }

    @Override
    public Optional<InboxPartitions> partitions() {
        return Optional.of(new InboxPartitions(sql));
    }

    @Override
    public int purge(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        boolean partitioned = new InboxPartitions(sql).exist(connection);
        return sql.update(
                connection,
                partitioned ? PURGE_DEFAULT : PURGE,
                binder ->
                        binder.micros(age).micros(age.plus(span)).integer(limit).micros(age));
    }
}
