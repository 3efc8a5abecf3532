package dev.postrider.jdbc;

import dev.postrider.internal.store.Lane;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SessionStatements;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lanes on PostgreSQL: one statement for each operation, so that a frozen process keeps no lock. */
final class PostgresLanes implements LaneStatements {

    static final String ACQUIRE = """
            WITH free AS MATERIALIZED (
                SELECT topic_id, lane, owner IS NOT NULL AS crashed, isolated, buffer FROM {lane}
                WHERE topic_id = ? AND until < clock_timestamp() - ? * interval '1 microsecond'
                ORDER BY lane
                LIMIT ?
                FOR UPDATE SKIP LOCKED
            ), numbered AS (
                SELECT *, row_number() OVER (ORDER BY lane) AS place FROM free
            )
            UPDATE {lane} AS l
            SET owner = ?, token = (?::uuid[])[numbered.place], until = clock_timestamp() + ? * interval '1 microsecond', buffer = ?,
                isolated = NULL
            FROM numbered
            WHERE l.topic_id = numbered.topic_id AND l.lane = numbered.lane
            RETURNING l.lane, l.token, l.revision, l.floor, numbered.crashed, numbered.isolated, numbered.buffer
            """;

    /**
     * Renews lanes. The lock does not conflict with outcomes, which lock the lane FOR KEY SHARE. A lane that an operator or a takeover
     * has locked is not renewed, but the result contains its token. The token of a lost lane is absent. The floor is stored only on the
     * server that it was read from.
     */
    static final String RENEW = """
            WITH mine AS MATERIALIZED (
                SELECT * FROM unnest(?::int[], ?::smallint[], ?::uuid[], ?::bigint[]) AS mine (topic_id, lane, token, floor)
            ), held AS MATERIALIZED (
                SELECT l.topic_id, l.lane, mine.floor
                FROM mine JOIN {lane} l ON l.topic_id = mine.topic_id AND l.lane = mine.lane AND l.token = mine.token
                ORDER BY l.topic_id, l.lane
                FOR NO KEY UPDATE OF l SKIP LOCKED
            ), renewed AS (
                UPDATE {lane} AS l
                SET until = clock_timestamp() + ? * interval '1 microsecond', buffer = ?,
                    floor = CASE WHEN ? = coalesce(host(inet_server_addr()), '') || ' ' || extract(epoch FROM pg_postmaster_start_time())
                                 THEN greatest(held.floor, l.floor) ELSE l.floor END
                FROM held
                WHERE l.topic_id = held.topic_id AND l.lane = held.lane
                RETURNING l.token, l.floor
            )
            SELECT l.token, renewed.floor, (SELECT pg_current_xact_id()::text::bigint FROM renewed LIMIT 1) AS transaction
            FROM mine JOIN {lane} l ON l.topic_id = mine.topic_id AND l.lane = mine.lane AND l.token = mine.token
            LEFT JOIN renewed ON renewed.token = l.token
            """;

    /** Locks {@code FOR UPDATE}: running outcome statements end before the lane is free. A locked lane is skipped and released later. */
    static final String RELEASE = """
            WITH held AS MATERIALIZED (
                SELECT l.topic_id, l.lane, mine.token, mine.floor
                FROM unnest(?::int[], ?::smallint[], ?::uuid[], ?::bigint[]) AS mine (topic_id, lane, token, floor)
                JOIN {lane} l ON l.topic_id = mine.topic_id AND l.lane = mine.lane AND l.token = mine.token
                ORDER BY l.topic_id, l.lane
                FOR UPDATE OF l SKIP LOCKED
            )
            UPDATE {lane} AS l
            SET owner = NULL, token = NULL, until = clock_timestamp(), buffer = 0, isolated = NULL,
                floor = CASE WHEN ? = coalesce(host(inet_server_addr()), '') || ' ' || extract(epoch FROM pg_postmaster_start_time())
                             THEN greatest(held.floor, l.floor) ELSE l.floor END
            FROM held
            WHERE l.topic_id = held.topic_id AND l.lane = held.lane
            RETURNING held.token
            """;

    static final String RELEASE_TOKENS = """
            WITH held AS MATERIALIZED (
                SELECT topic_id, lane FROM {lane} WHERE token = ANY (?::uuid[]) ORDER BY topic_id, lane FOR UPDATE SKIP LOCKED
            )
            UPDATE {lane} AS l SET owner = NULL, token = NULL, until = clock_timestamp(), isolated = NULL
            FROM held
            WHERE l.topic_id = held.topic_id AND l.lane = held.lane
            """;

    /** As {@link #RELEASE_TOKENS}, for a node that stops: waits for locked lanes, since the node does not come back to them. */
    static final String RELEASE_LAST_TOKENS = """
            UPDATE {lane} SET owner = NULL, token = NULL, until = clock_timestamp(), isolated = NULL
            WHERE token = ANY (?::uuid[]) AND (SELECT set_config('lock_timeout', ?, true)) IS NOT NULL
            """;

    static final String STANDINGS = """
            SELECT l.token, l.revision, l.floor,
                   coalesce(host(inet_server_addr()), '') || ' ' || extract(epoch FROM pg_postmaster_start_time()) AS server
            FROM unnest(?::int[], ?::smallint[], ?::uuid[]) AS mine (topic_id, lane, token)
            JOIN {lane} l ON l.topic_id = mine.topic_id AND l.lane = mine.lane AND l.token = mine.token
            """;

    /**
     * Counts a crash against the messages that may have been in flight on the lost owner: the first pending rows of each lane, up to the
     * buffer of the owner, and the due rows. A locked row is skipped: a handler of a live node is processing it, and waiting for it would
     * keep the lane locked.
     */
    static final String SUSPECT_MANY = """
            WITH suspect AS MATERIALIZED (
                SELECT hot.seq
                FROM unnest(?::smallint[], ?::bigint[], ?::int[]) AS lost (lane, floor, buffer)
                CROSS JOIN LATERAL (
                    SELECT seq FROM {message}
                    WHERE topic_id = ? AND lane = lost.lane AND state = 'PENDING' AND lane IS NOT NULL AND seq > lost.floor
                    ORDER BY seq LIMIT lost.buffer
                ) AS hot
                UNION ALL
                SELECT timed.seq
                FROM unnest(?::smallint[], ?::int[]) AS lost (lane, buffer)
                CROSS JOIN LATERAL (
                    SELECT seq FROM {message}
                    WHERE topic_id = ? AND lane = lost.lane AND state IN ('SCHEDULED', 'RETRY')
                      AND available_at <= statement_timestamp()
                    ORDER BY available_at LIMIT lost.buffer
                ) AS timed
            ), free AS MATERIALIZED (
                SELECT ctid AS place FROM {message} WHERE seq = ANY (ARRAY(SELECT seq FROM suspect)) FOR UPDATE SKIP LOCKED
            )
            UPDATE {message} AS m SET crashes = greatest(m.crashes, least(m.crashes + 1, 2))
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM free))
            """;

    static final String SUSPECT_ONE = """
            WITH free AS MATERIALIZED (
                SELECT ctid AS place FROM {message}
                WHERE seq = ANY (?::bigint[]) AND topic_id = ? AND lane IS NOT NULL AND state <> 'DEAD'
                FOR UPDATE SKIP LOCKED
            )
            UPDATE {message} AS m SET crashes = crashes + 1
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM free))
            """;

    /** Notes an isolated delivery, or removes the note. Skips a locked lane, and tells it from a lost one. */
    static final String SET_ISOLATED = """
            WITH mine AS MATERIALIZED (
                SELECT topic_id, lane FROM {lane} WHERE topic_id = ? AND lane = ? AND token = ? FOR NO KEY UPDATE SKIP LOCKED
            ), noted AS (
                UPDATE {lane} AS l SET isolated = ? FROM mine WHERE l.topic_id = mine.topic_id AND l.lane = mine.lane
                RETURNING l.lane
            )
            SELECT EXISTS (SELECT FROM noted) AS noted,
                   EXISTS (SELECT FROM {lane} WHERE topic_id = ? AND lane = ? AND token = ?) AS owned
            """;

    private final SqlRunner sql;
    private final String lockTimeout;

    /** @param lockTimeout how long a statement of a node that stops may wait for a lane; the others do not wait */
    PostgresLanes(SqlRunner sql, Duration lockTimeout) {
        this.sql = sql;
        this.lockTimeout = SessionStatements.lockTimeout(lockTimeout);
    }

    @Override
    public List<AcquiredLane> acquire(
            Connection connection, int topicId, Lane.Request request, List<UUID> tokens, int buffer)
            throws SQLException {
        boolean leftOver = request.supply() == Lane.Supply.UNCLAIMED;
        return sql.query(
                connection,
                ACQUIRE,
                binder -> binder.integer(topicId)
                        .micros(leftOver ? request.lease() : Duration.ZERO)
                        .integer(tokens.size())
                        .text(request.worker())
                        .array("uuid", tokens.toArray())
                        .micros(request.lease())
                        .integer(buffer),
                this::taken);
    }

    private List<AcquiredLane> taken(ResultSet rows) throws SQLException {
        List<AcquiredLane> taken = new ArrayList<>();
        while (rows.next()) {
            long isolated = rows.getLong("isolated");
            Long suspect = rows.wasNull() ? null : isolated;
            taken.add(new AcquiredLane(
                    rows.getInt("lane"),
                    sql.readUuid(rows, "token"),
                    rows.getInt("revision"),
                    rows.getLong("floor"),
                    rows.getBoolean("crashed"),
                    suspect,
                    rows.getInt("buffer")));
        }
        return taken;
    }

    @Override
    public boolean renewalMeetsOutcomes() {
        return false;
    }

    @Override
    public Renewed renew(Connection connection, Floors floors, Duration lease, int buffer, boolean wait)
            throws SQLException {
        return sql.query(
                connection,
                RENEW,
                binder -> floors(binder, floors).micros(lease).integer(buffer).text(floors.server()),
                rows -> {
                    Map<UUID, Long> stored = new HashMap<>();
                    Set<UUID> locked = new HashSet<>();
                    long transaction = Horizon.NO_TRANSACTION;
                    while (rows.next()) {
                        UUID token = sql.readUuid(rows, "token");
                        long floor = rows.getLong("floor");
                        if (rows.wasNull()) {
                            locked.add(token);
                        } else {
                            stored.put(token, floor);
                            transaction = rows.getLong("transaction");
                        }
                    }
                    return new Renewed(stored, locked, transaction);
                });
    }

    @Override
    public Set<UUID> release(Connection connection, Floors floors) throws SQLException {
        return sql.query(connection, RELEASE, binder -> floors(binder, floors).text(floors.server()), rows -> {
            Set<UUID> released = new HashSet<>();
            while (rows.next()) {
                released.add(sql.readUuid(rows, "token"));
            }
            return released;
        });
    }

    private static Binder floors(Binder binder, Floors floors) throws SQLException {
        return lanes(binder, floors.byLane().keySet())
                .array("int8", floors.byLane().values().toArray());
    }

    static Binder lanes(Binder binder, Collection<LaneCursor> lanes) throws SQLException {
        return binder.array("int4", column(lanes, lane -> lane.topicId))
                .array("int2", column(lanes, lane -> lane.lane))
                .array("uuid", column(lanes, lane -> lane.token));
    }

    @Override
    public void releaseTokens(Connection connection, Collection<UUID> tokens, boolean wait) throws SQLException {
        if (wait) {
            sql.update(
                    connection,
                    RELEASE_LAST_TOKENS,
                    binder -> binder.array("uuid", tokens.toArray()).text(lockTimeout));
        } else {
            sql.update(connection, RELEASE_TOKENS, binder -> binder.array("uuid", tokens.toArray()));
        }
    }

    @Override
    public Standings standings(Connection connection, Collection<LaneCursor> lanes) throws SQLException {
        return sql.query(connection, STANDINGS, binder -> lanes(binder, lanes), rows -> {
            String server = "";
            Map<UUID, Standing> byToken = new HashMap<>();
            while (rows.next()) {
                server = rows.getString("server");
                byToken.put(sql.readUuid(rows, "token"), new Standing(rows.getInt("revision"), rows.getLong("floor")));
            }
            return new Standings(server, byToken);
        });
    }

    @Override
    public void suspect(Connection connection, int topicId, List<AcquiredLane> crashed) throws SQLException {
        Object[] one = crashed.stream()
                .map(AcquiredLane::isolated)
                .filter(noted -> noted != null)
                .toArray();
        if (one.length > 0) {
            sql.update(
                    connection, SUSPECT_ONE, binder -> binder.array("int8", one).integer(topicId));
        }
        Object[] lanes = column(crashed, AcquiredLane::lane);
        Object[] buffers = column(crashed, AcquiredLane::buffer);
        sql.update(
                connection,
                SUSPECT_MANY,
                binder -> binder.array("int2", lanes)
                        .array("int8", column(crashed, AcquiredLane::floor))
                        .array("int4", buffers)
                        .integer(topicId)
                        .array("int2", lanes)
                        .array("int4", buffers)
                        .integer(topicId));
    }

    @Override
    public Noted setIsolated(Connection connection, LaneCursor lane, @Nullable Long seq) throws SQLException {
        return sql.query(
                connection,
                SET_ISOLATED,
                binder -> binder.integer(lane.topicId)
                        .integer(lane.lane)
                        .uuid(lane.token)
                        .numberOrNone(seq)
                        .integer(lane.topicId)
                        .integer(lane.lane)
                        .uuid(lane.token),
                row -> {
                    row.next();
                    return Noted.of(row.getBoolean("noted"), row.getBoolean("owned"));
                });
    }

    static <T> @Nullable Object[] column(Collection<T> rows, Function<T, @Nullable Object> value) {
        return rows.stream().map(value).toArray();
    }
}
