package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.store.Claim;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Outcomes of lanes on MySQL, MariaDB and H2. Each is a short transaction that locks the lanes first. In braces: table names,
 * {@code {values}} for a list of parameters, and {@code {due}} for a time.
 */
final class InnoDbLaneOutcomes implements LaneOutcomeStatements {

    /** Skips locked rows: the statement must not wait for a row while it has the lane locked. */
    static final String FIND = """
            SELECT seq, id, topic_id, state, lane, tenant, ordering_key FROM {message} FORCE INDEX (PRIMARY) WHERE seq IN ({values})
            FOR UPDATE SKIP LOCKED
            """;

    /** Counts the attempt: on lanes, an attempt is counted with its outcome. */
    static final String COPY = """
            INSERT INTO {archive} (seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                   attributes, attempts, crashes, created_at, delivered_at, failed_attempts)
            SELECT seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type,
                   CASE WHEN ? THEN payload END, attributes, attempts + 1, crashes, created_at, UTC_TIMESTAMP(6),
                   failed_attempts
            FROM {message} WHERE seq IN ({values})
            """;

    static final String MOVE = """
            UPDATE {message}
            SET state = ?, attempts = ?, last_error = ?, reason = ?, fingerprint = ?,
                failed_attempts = LEFT(CONCAT(DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ'), ?, COALESCE(failed_attempts, '')), 4000),
                available_at = {due}, updated_at = UTC_TIMESTAMP(6)
            WHERE seq = ?
            """;

    static final String WAIT =
            "UPDATE {message} FORCE INDEX (PRIMARY) SET state = ?, available_at = UTC_TIMESTAMP(6), updated_at = UTC_TIMESTAMP(6) WHERE seq IN ({values})";

    private static final String NEVER = "'9999-12-31 00:00:00'";

    private static final String LATER = "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND";

    private record Found(long seq, UUID id, RowState state, InnoDbLaneReads.LaneKey key) {}

    private final SqlRunner sql;
    private final InnoDbLanes lanes;
    private final InnoDbLaneReads reads;

    InnoDbLaneOutcomes(SqlRunner sql, InnoDbLanes lanes, InnoDbLaneReads reads) {
        this.sql = sql;
        this.lanes = lanes;
        this.reads = reads;
    }

    @Override
    public Written acknowledge(
            Connection connection,
            Collection<LaneCursor> fence,
            List<Claim> delivered,
            boolean waiting,
            TableOptions.Archive archive)
            throws SQLException {
        Map<Long, Found> met = fenced(connection, fence, LaneReads.ids(delivered));
        if (archive != TableOptions.Archive.OFF) {
            boolean withPayload = archive == TableOptions.Archive.FULL;
            sql.change(connection, COPY, met.keySet(), "archive messages", binder -> binder.flag(withPayload));
        }
        sql.change(connection, InnoDbOutcomes.DELETE, met.keySet(), "delete delivered messages", binder -> {});
        return waiting ? promoted(connection, met) : written(met, false);
    }

    @Override
    public Written move(Connection connection, Collection<LaneCursor> fence, List<Move> rows, Leaving leaving)
            throws SQLException {
        Map<Long, UUID> wanted = new LinkedHashMap<>();
        rows.forEach(row -> wanted.put(row.seq(), row.id()));
        Map<Long, Found> met = fenced(connection, fence, wanted);
        met.values().removeIf(row -> !leaving.states().contains(row.state()));
        Map<Long, Boolean> keyBlocked = new HashMap<>();
        for (Move row : rows) {
            if (met.containsKey(row.seq())) {
                move(connection, row);
                keyBlocked.put(row.seq(), row.state() == RowState.RETRY || row.state() == RowState.PARKED);
            }
        }
        return leaving == Leaving.THEIR_KEY
                ? promoted(connection, met)
                : new Written(keyBlocked, Horizon.NO_TRANSACTION);
    }

    private void move(Connection connection, Move row) throws SQLException {
        Duration delay = row.delay();
        String due = delay == null ? NEVER : LATER;
        int changed = sql.update(connection, MOVE.replace("{due}", due), binder -> {
            binder.text(row.state().name())
                    .integer(row.attempts())
                    .text(row.error())
                    .text(row.reason())
                    .text(row.fingerprint())
                    .text(row.attempt());
            if (delay != null) {
                binder.micros(delay);
            }
            binder.number(row.seq());
        });
        SqlRunner.expect(1, changed, "move a message");
    }

    @Override
    public Written block(Connection connection, Collection<LaneCursor> fence, List<Claim> claims) throws SQLException {
        Map<Long, Found> met = fenced(connection, fence, LaneReads.ids(claims));
        met.values().removeIf(row -> row.state() != RowState.PENDING);
        leaveOutBehindLocked(met, claims);
        Map<InnoDbLaneReads.LaneKey, Long> lowest = new HashMap<>();
        Map<Long, Boolean> behind = new HashMap<>();
        for (Found row : met.values()) {
            Long first = lowest.get(row.key());
            if (first == null) {
                List<InnoDbLaneReads.Sized> waiting = reads.waiting(connection, row.key(), 1);
                first = waiting.isEmpty() ? Long.MAX_VALUE : waiting.get(0).seq();
            }
            behind.put(row.seq(), first < row.seq());
            lowest.put(row.key(), Math.min(first, row.seq()));
        }
        wait(connection, RowState.BLOCKED, behind, true);
        wait(connection, RowState.RETRY, behind, false);
        return new Written(behind, Horizon.NO_TRANSACTION);
    }

    /** The rows of a key join in the order of their numbers: a row joins only if all lower rows of its key in this write are free. */
    private static void leaveOutBehindLocked(Map<Long, Found> met, List<Claim> claims) {
        List<Integer> keys = LaneOutcomeStatements.keyNumbers(claims);
        Set<Integer> broken = new HashSet<>();
        IntStream.range(0, claims.size())
                .boxed()
                .sorted(Comparator.comparing(place -> claims.get(place).seq()))
                .forEach(place -> {
                    long seq = claims.get(place).seq();
                    int key = keys.get(place);
                    if (!met.containsKey(seq)) {
                        broken.add(key);
                    } else if (broken.contains(key)) {
                        met.remove(seq);
                    }
                });
    }

    private void wait(Connection connection, RowState state, Map<Long, Boolean> rows, boolean which)
            throws SQLException {
        List<Long> seqs = rows.keySet().stream()
                .filter(seq -> rows.getOrDefault(seq, false) == which)
                .toList();
        sql.change(connection, WAIT, seqs, "block messages", binder -> binder.text(state.name()));
    }

    /**
     * Locks and returns the existing rows of lanes that still have this node's token and revision, ordered by number. Lanes and rows
     * that another transaction has locked are left out: no lane delays the outcomes of another one.
     */
    private Map<Long, Found> fenced(Connection connection, Collection<LaneCursor> fence, Map<Long, UUID> rows)
            throws SQLException {
        Map<UUID, LaneStatements.Standing> held =
                lanes.held(connection, fence, sql.kind().existenceLockIfFree());
        Set<InnoDbLanes.LaneId> owned = fence.stream()
                .filter(lane -> {
                    LaneStatements.Standing standing = held.get(lane.token);
                    return standing != null && standing.revision() == lane.revision();
                })
                .map(lane -> new InnoDbLanes.LaneId(lane.topicId, lane.lane))
                .collect(Collectors.toSet());
        Map<Long, Found> met = new TreeMap<>();
        if (!owned.isEmpty()) {
            sql.query(
                    connection,
                    ValueList.in(FIND, rows.size()),
                    binder -> ValueList.bindNumbers(binder, rows.keySet()),
                    found -> {
                        while (found.next()) {
                            Found row = new Found(
                                    found.getLong("seq"),
                                    sql.readUuid(found, "id"),
                                    RowState.read(found),
                                    InnoDbLaneReads.LaneKey.read(found));
                            if (row.id().equals(rows.get(row.seq()))
                                    && owned.contains(row.key().place())) {
                                met.put(row.seq(), row);
                            }
                        }
                        return met;
                    });
        }
        return met;
    }

    private static Written written(Map<Long, Found> met, boolean keyBlocked) {
        Map<Long, Boolean> answers = new HashMap<>();
        met.keySet().forEach(seq -> answers.put(seq, keyBlocked));
        return new Written(answers, Horizon.NO_TRANSACTION);
    }

    /**
     * Makes the lowest remaining message of each blocked key its head, due now. If a handler or another transaction has locked that
     * message, it stays unchanged and the result names it.
     */
    private Written promoted(Connection connection, Map<Long, Found> gone) throws SQLException {
        Map<InnoDbLaneReads.LaneKey, KeyHeads.Promotion> promotions = new HashMap<>();
        Map<Long, Boolean> keyBlocked = new HashMap<>();
        Map<Long, Long> lockedHeads = new HashMap<>();
        for (Found row : gone.values()) {
            KeyHeads.Promotion promotion = promotions.get(row.key());
            if (promotion == null) {
                promotion = promote(connection, row.key());
                promotions.put(row.key(), promotion);
            }
            keyBlocked.put(row.seq(), promotion.keyBlocked());
            Long locked = promotion.lockedHead();
            if (locked != null) {
                lockedHeads.put(row.seq(), locked);
            }
        }
        return new Written(keyBlocked, lockedHeads, Horizon.NO_TRANSACTION);
    }

    private KeyHeads.Promotion promote(Connection connection, InnoDbLaneReads.LaneKey key) throws SQLException {
        List<InnoDbLaneReads.Sized> left = reads.waiting(connection, key, 1);
        if (left.isEmpty() || left.get(0).state() != RowState.BLOCKED) {
            return new KeyHeads.Promotion(!left.isEmpty(), null);
        }
        long head = left.get(0).seq();
        if (lanes.free(connection, Set.of(head)).isEmpty()) {
            return new KeyHeads.Promotion(true, head);
        }
        sql.change(connection, WAIT, List.of(head), "promote a new head", binder -> binder.text(RowState.RETRY.name()));
        return new KeyHeads.Promotion(true, null);
    }
}
