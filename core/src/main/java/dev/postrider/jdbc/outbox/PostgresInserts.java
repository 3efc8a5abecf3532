package dev.postrider.jdbc.outbox;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Inserts on PostgreSQL: one statement for messages and marks. To run a statement in a console, replace the braces around a table name by
 * the prefix {@code postrider_}.
 */
final class PostgresInserts implements InsertStatements {

    /** The largest insert by plain values. Each number of rows is a separate prepared statement, and a connection keeps few of them. */
    static final int FEW = 8;

    /**
     * The beginning of the INSERT of messages that are due now. The defaults of the table do the rest: the number, the state, the
     * counters and the times.
     */
    static final String INTO_MESSAGE = """
            INSERT INTO {message} (id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                                   lane)
            """;

    private static final String ROW = """
            (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """;

    /** Uses plain values, which are faster than arrays up to about ten rows (docs/decisions/0012). */
    static final String INSERT_ONE = INTO_MESSAGE + "VALUES " + ROW + "ON CONFLICT (id) DO NOTHING";

    /** Returns the INSERT of this number of rows. PostgreSQL inserts VALUES in their written order. */
    static String insertFew(int rows) {
        return INTO_MESSAGE + "VALUES " + String.join(", ", Collections.nCopies(rows, ROW))
                + "ON CONFLICT (id) DO NOTHING RETURNING id";
    }

    private static final List<String> INSERT_FEW =
            IntStream.rangeClosed(0, FEW).mapToObj(PostgresInserts::insertFew).toList();

    static final String INSERT_ONE_AND_COMMIT = """
            SAVEPOINT postrider_insert;
            """ + INTO_MESSAGE + "VALUES " + ROW + "; COMMIT";

    /** Returns the INSERT of this number of rows that also commits. It has no ON CONFLICT: an existing id must prevent the commit. */
    static String insertFewAndCommit(int rows) {
        return INSERT_ONE_AND_COMMIT.replace(ROW, String.join(", ", Collections.nCopies(rows, ROW)));
    }

    static final String MARK = """
            WITH mark AS (
                INSERT INTO {dedup} (topic_id, key_hash, message_id, payload_hash) VALUES (?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                RETURNING topic_id, message_id
            )
            """;

    /** The inserted messages and marks. A mark without a message is of a message whose id is live; the caller deletes that mark. */
    static final String WRITTEN = """
            )
            SELECT written.id, mark.message_id AS marked FROM written FULL JOIN mark ON mark.message_id = written.id
            """;

    /** As {@link #WRITTEN}, with the numbers of the leased messages. */
    static final String WRITTEN_LEASED = """
            )
            SELECT written.id, seq, mark.message_id AS marked FROM written FULL JOIN mark ON mark.message_id = written.id
            """;

    /** Inserts mark and message in one statement. If the mark exists, the message is not inserted, and no error is raised. */
    static final String INSERT_ONE_KEYED = MARK + ", written AS ( " + INTO_MESSAGE + """
            SELECT message_id, topic_id, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::bytea, ?::text, ?::smallint
            FROM mark
            ON CONFLICT (id) DO NOTHING
            RETURNING id
            """ + WRITTEN;

    /** The rows of an INSERT. WITH ORDINALITY and ORDER BY keep the numbers in the order of the batch. */
    static final String INPUT = """
            unnest(?::uuid[], ?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bytea[], ?::text[],
                   ?::smallint[], ?::timestamptz[], ?::bytea[], ?::bytea[]) WITH ORDINALITY
              AS input (id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                        lane, deliver_at, key_hash, payload_hash, ord)
            """;

    /** Messages that may have a delivery time: a scheduled message of a lane has a state of its own. */
    static final String INSERT_MESSAGE = """
            INSERT INTO {message} (id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                                   lane, state, available_at)
            SELECT input.id, input.topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                   lane,
                   CASE WHEN lane IS NOT NULL AND deliver_at > clock_timestamp() THEN 'SCHEDULED' ELSE 'PENDING' END,
                   greatest(deliver_at, clock_timestamp())
            """;

    static final String INSERT =
            INSERT_MESSAGE + "FROM " + INPUT + "ORDER BY ord ON CONFLICT (id) DO NOTHING RETURNING id";

    static final String MARKS = """
            mark AS (
                INSERT INTO {dedup} (topic_id, key_hash, message_id, payload_hash)
                SELECT topic_id, key_hash, id, payload_hash FROM input WHERE key_hash IS NOT NULL
                ORDER BY topic_id, key_hash, ord -- every transaction takes its marks in the same order
                ON CONFLICT DO NOTHING
                RETURNING message_id
            )
            """;

    /** As {@link #INSERT_ONE_KEYED}, for several messages, also without a key. */
    static final String INSERT_KEYED = "WITH input AS MATERIALIZED (SELECT * FROM " + INPUT + "), " + MARKS
            + ", written AS ( " + INSERT_MESSAGE + """
            FROM input LEFT JOIN mark ON mark.message_id = input.id
            WHERE input.key_hash IS NULL OR mark.message_id IS NOT NULL
            ORDER BY ord
            ON CONFLICT (id) DO NOTHING
            RETURNING id
            """ + WRITTEN;

    /**
     * Inserts one message for local hand-over: with a lease of this node, unless its topic is paused. The last parameter is the number of
     * the topic. The result contains the number of the message if it was leased. A scheduled message is not handed over, nor one of a lane.
     */
    static final String ONE_LEASED = """
            INSERT INTO {message} (id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                                   lane, state, lease_token, locked_by, locked_until)
            SELECT ?::uuid, t.id, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::bytea, ?::text, ?::smallint,
                   CASE WHEN paused THEN 'PENDING' ELSE 'PROCESSING' END,
                   CASE WHEN NOT paused THEN ?::uuid END, CASE WHEN NOT paused THEN ? END,
                   CASE WHEN NOT paused THEN clock_timestamp() + ? * interval '1 microsecond' END
            """;

    static final String INSERT_ONE_LEASED = ONE_LEASED + """
            FROM {topic} AS t WHERE t.id = ?
            ON CONFLICT (id) DO NOTHING
            RETURNING id, CASE WHEN lease_token IS NOT NULL THEN seq END AS seq
            """;

    /**
     * As {@link #INSERT_ONE_LEASED}, and commits. The outer join inserts the row also when its topic was removed, because no other statement
     * could do that after the commit.
     */
    static final String INSERT_ONE_LEASED_AND_COMMIT = """
            SAVEPOINT postrider_insert;
            INSERT INTO {message} (id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                                   lane, state, lease_token, locked_by, locked_until)
            SELECT ?::uuid, ?::int, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::bytea, ?::text, ?::smallint,
                   CASE WHEN NOT paused THEN 'PROCESSING' ELSE 'PENDING' END,
                   CASE WHEN NOT paused THEN ?::uuid END, CASE WHEN NOT paused THEN ? END,
                   CASE WHEN NOT paused THEN clock_timestamp() + ? * interval '1 microsecond' END
            FROM (SELECT 1) AS one LEFT JOIN {topic} AS t ON t.id = ?
            RETURNING id, CASE WHEN lease_token IS NOT NULL THEN seq END AS seq
            """ + "; COMMIT";

    static final String INSERT_ONE_KEYED_LEASED = MARK + ", written AS ( " + ONE_LEASED + """
            FROM {topic} AS t CROSS JOIN mark WHERE t.id = ?
            ON CONFLICT (id) DO NOTHING
            RETURNING id, CASE WHEN lease_token IS NOT NULL THEN seq END AS seq
            """ + WRITTEN_LEASED;

    /**
     * Inserts several messages for local hand-over: those with the given ids get a lease of this node, unless their topic is paused. The
     * result contains the numbers of the leased messages.
     */
    static final String INSERT_LEASED_MESSAGE = """
            INSERT INTO {message} (id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                                   lane, state, available_at, lease_token, locked_by, locked_until)
            SELECT input.id, input.topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                   lane,
                   CASE WHEN open_topic IS NOT NULL THEN 'PROCESSING'
                        WHEN lane IS NOT NULL AND deliver_at > clock_timestamp() THEN 'SCHEDULED' ELSE 'PENDING' END,
                   greatest(deliver_at, clock_timestamp()),
                   CASE WHEN open_topic IS NOT NULL THEN ?::uuid END, CASE WHEN open_topic IS NOT NULL THEN ? END,
                   CASE WHEN open_topic IS NOT NULL THEN clock_timestamp() + ? * interval '1 microsecond' END
            FROM input
            LEFT JOIN (SELECT id FROM {topic} WHERE NOT paused) AS topics (open_topic)
                   ON open_topic = input.topic_id AND input.id = ANY (?::uuid[])
            """;

    static final String INSERT_LEASED =
            "WITH input AS MATERIALIZED (SELECT * FROM " + INPUT + ")\n" + INSERT_LEASED_MESSAGE + """
            ORDER BY ord
            ON CONFLICT (id) DO NOTHING
            RETURNING id, CASE WHEN lease_token IS NOT NULL THEN seq END AS seq
            """;

    static final String INSERT_KEYED_LEASED = "WITH input AS MATERIALIZED (SELECT * FROM " + INPUT + "), " + MARKS
            + ", written AS ( " + INSERT_LEASED_MESSAGE + """
            LEFT JOIN mark ON mark.message_id = input.id
            WHERE input.key_hash IS NULL OR mark.message_id IS NOT NULL
            ORDER BY ord
            ON CONFLICT (id) DO NOTHING
            RETURNING id, CASE WHEN lease_token IS NOT NULL THEN seq END AS seq
            """ + WRITTEN_LEASED;

    static final String FIRST_USES = """
            SELECT d.topic_id, d.key_hash, d.message_id, d.payload_hash
            FROM unnest(?::int[], ?::bytea[]) AS wanted (topic_id, key_hash)
            JOIN {dedup} d ON d.topic_id = wanted.topic_id AND d.key_hash = wanted.key_hash
            """;

    static final String LIVE =
            "SELECT id, topic_id, tenant, idempotency_key, payload, attributes FROM {message} WHERE id = ANY (?::uuid[])";

    private final SqlRunner sql;
    private final InsertUndo undo;

    PostgresInserts(SqlRunner sql) {
        this.sql = sql;
        this.undo = new InsertUndo(sql);
    }

    @Override
    public Set<UUID> insert(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert)
            throws SQLException {
        if (leasedInsert != null && rows.stream().anyMatch(leasedInsert::isWanted)) {
            return insertLeased(connection, rows, leasedInsert);
        }
        boolean scheduled = rows.stream().anyMatch(NewRow::isScheduled);
        if (rows.size() == 1 && !scheduled) {
            return insertOne(connection, rows.get(0));
        }
        boolean keyed = rows.stream().anyMatch(row -> row.mark() != null);
        if (!keyed && !scheduled && rows.size() <= FEW) {
            return sql.query(connection, INSERT_FEW.get(rows.size()), binder -> bindRows(binder, rows), sql::ids);
        }
        return keyed
                ? insertKeyed(connection, INSERT_KEYED, rows, null, binder -> bindInput(binder, rows))
                : sql.query(connection, INSERT, binder -> bindInput(binder, rows), sql::ids);
    }

    private Set<UUID> insertKeyed(
            Connection connection,
            String statement,
            List<NewRow> rows,
            @Nullable LeasedInsert leasedInsert,
            SqlRunner.Bind bind)
            throws SQLException {
        Set<UUID> written = new HashSet<>();
        Set<UUID> withoutMessage = new HashSet<>();
        sql.query(connection, statement, bind, answer -> {
            while (answer.next()) {
                if (answer.getObject("id") == null) {
                    withoutMessage.add(sql.readUuid(answer, "marked"));
                } else {
                    written.add(LeasedInsert.readWritten(answer, sql, leasedInsert));
                }
            }
            return true;
        });
        undo.takeBackMarks(
                connection,
                rows.stream().filter(row -> withoutMessage.remove(row.id())).toList());
        return written;
    }

    private Set<UUID> insertLeased(Connection connection, List<NewRow> rows, LeasedInsert leasedInsert)
            throws SQLException {
        boolean keyed = rows.stream().anyMatch(row -> row.mark() != null);
        if (rows.size() == 1) {
            NewRow row = rows.get(0);
            SqlRunner.Bind bind = binder -> leasedInsert
                    .bindLease(row.bindContent((keyed ? row.bindMark(binder) : binder).uuid(row.id())))
                    .integer(row.topicId());
            return keyed
                    ? insertKeyed(connection, INSERT_ONE_KEYED_LEASED, rows, leasedInsert, bind)
                    : sql.query(connection, INSERT_ONE_LEASED, bind, answer -> leasedInsert.read(answer, sql));
        }
        SqlRunner.Bind bind = binder -> leasedInsert
                .bindLease(bindInput(binder, rows))
                .array("uuid", column(leasedInsert.wanted(rows), Message::id, MessageId::value));
        return keyed
                ? insertKeyed(connection, INSERT_KEYED_LEASED, rows, leasedInsert, bind)
                : sql.query(connection, INSERT_LEASED, bind, answer -> leasedInsert.read(answer, sql));
    }

    private Set<UUID> insertOne(Connection connection, NewRow row) throws SQLException {
        if (row.mark() != null) {
            return insertKeyed(
                    connection, INSERT_ONE_KEYED, List.of(row), null, binder -> row.bindContent(row.bindMark(binder)));
        }
        int inserted = sql.update(connection, INSERT_ONE, binder -> bindRows(binder, List.of(row)));
        return inserted == 1 ? Set.of(row.id()) : Set.of();
    }

    /** @throws IllegalStateException for a row with a delivery time: the statements of plain values would deliver it at once */
    private static void bindRows(Binder binder, List<NewRow> rows) throws SQLException {
        for (NewRow row : rows) {
            if (row.isScheduled()) {
                throw new IllegalStateException("A message with a delivery time needs the INSERT of the arrays");
            }
            row.bind(binder);
        }
    }

    /** Binds one array for each column: as {@link NewRow#bind}, then the delivery time and the mark. */
    private static Binder bindInput(Binder binder, List<NewRow> rows) throws SQLException {
        return binder.array("uuid", column(rows, Message::id, MessageId::value))
                .array("int4", rows.stream().map(NewRow::topicId).toArray())
                .array("text", column(rows, message -> message.topic().topic()))
                .array("text", column(rows, Message::type))
                .array("text", column(rows, Message::tenant))
                .array("text", column(rows, Message::key))
                .array("text", column(rows, Message::idempotencyKey))
                .array("text", rows.stream().map(NewRow::contentType).toArray())
                .array("bytea", bytes(rows, NewRow::payload))
                .array("text", rows.stream().map(NewRow::attributes).toArray())
                .array("int2", rows.stream().map(NewRow::lane).toArray())
                .array("timestamptz", column(rows, Message::deliverAt, PostgresInserts::timestamp))
                .array("bytea", bytes(rows, row -> row.mark() == null ? null : row.mark().keyHash))
                .array("bytea", bytes(rows, row -> row.mark() == null ? null : row.mark().payloadHash));
    }

    private static Object[] column(List<NewRow> rows, Function<Message, @Nullable String> value) {
        return rows.stream().map(row -> value.apply(row.message())).toArray(String[]::new);
    }

    private static <T> Object[] column(
            List<NewRow> rows, Function<Message, @Nullable T> value, Function<T, Object> converted) {
        Object[] column = new Object[rows.size()];
        for (int i = 0; i < column.length; i++) {
            T given = value.apply(rows.get(i).message());
            column[i] = given == null ? null : converted.apply(given);
        }
        return column;
    }

    private static Object[] bytes(List<NewRow> rows, Function<NewRow, byte @Nullable []> value) {
        return rows.stream().map(value).toArray(byte[][]::new);
    }

    /** Every session reads ISO 8601 in UTC in the same way, regardless of its time zone and date style. */
    private static Object timestamp(Instant time) {
        return time.toString();
    }

    @Override
    public Map<NewRow.Mark, FirstUse> firstUses(Connection connection, Collection<NewRow.Mark> marks)
            throws SQLException {
        return sql.query(
                connection,
                FIRST_USES,
                binder -> binder.array(
                                "int4", marks.stream().map(mark -> mark.topicId).toArray())
                        .array("bytea", marks.stream().map(mark -> mark.keyHash).toArray(byte[][]::new)),
                rows -> FirstUse.read(rows, sql));
    }

    @Override
    public Map<UUID, LiveMessage> live(Connection connection, Collection<UUID> ids) throws SQLException {
        return sql.query(
                connection, LIVE, binder -> binder.array("uuid", ids.toArray()), rows -> LiveMessage.read(rows, sql));
    }
}
