package dev.postrider.jdbc;

import dev.postrider.internal.ErrorText;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.store.DeadReason;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;

/**
 * Buries the messages of a handler that is no longer registered, in batches of bounded size. Messages that are being handled at this
 * moment are skipped. Thread-safe.
 */
final class HandlerRetirement {

    private static final int CHUNK = 500;

    private static final String LOCK_WAITING = """
            SELECT seq FROM {message}
            WHERE topic_id = ? AND lane IS NULL AND state = 'PENDING'
            ORDER BY available_at, seq LIMIT ? FOR UPDATE SKIP LOCKED
            """;

    private static final String LOCK_EXPIRED = """
            SELECT seq FROM {message}
            WHERE topic_id = ? AND state = 'PROCESSING' AND locked_until < {now}
            ORDER BY seq LIMIT ? FOR UPDATE SKIP LOCKED
            """;

    /** Takes the last messages first, so that a key keeps its head as long as it has blocked messages. */
    private static final String LOCK_IN_LANE = """
            SELECT seq FROM {message}
            WHERE topic_id = ? AND lane = ? AND state IN ('PENDING', 'SCHEDULED', 'RETRY', 'BLOCKED', 'PARKED')
            ORDER BY seq DESC LIMIT ? FOR UPDATE SKIP LOCKED
            """;

    private static final String BURY = """
            UPDATE {message}{by key}
            SET state = 'DEAD', reason = ?, last_error = ?, fingerprint = ?, lease_token = NULL, locked_by = NULL, locked_until = NULL,
                updated_at = {now}
            WHERE state <> 'DEAD' AND seq IN ({values})
            """;

    private static final String ERROR = "The handler was retired";

    private final Sessions sessions;
    private final SqlRunner sql;

    HandlerRetirement(Sessions sessions, SqlRunner sql) {
        this.sessions = sessions;
        this.sql = sql;
    }

    /** @return how many messages were buried */
    int bury(Topics.RegisteredTopic queue) {
        int buried = 0;
        if (queue.lanes() == 0) {
            buried += repeat(connection -> chunk(connection, lock(connection, LOCK_WAITING, queue)));
            return buried + repeat(connection -> chunk(connection, lock(connection, LOCK_EXPIRED, queue)));
        }
        for (int lane = 0; lane < queue.lanes(); lane++) {
            int number = lane;
            buried += repeat(connection -> chunk(connection, lockInLane(connection, queue.id(), number)));
        }
        return buried;
    }

    private int repeat(Sessions.Body<Integer> chunk) {
        int all = 0;
        int buried;
        do {
            buried = sessions.transaction("bury messages of a retired handler", chunk);
            all += buried;
        } while (buried == CHUNK);
        return all;
    }

    private Set<Long> lock(Connection connection, String statement, Topics.RegisteredTopic queue) throws SQLException {
        return sql.query(
                connection, statement, binder -> binder.integer(queue.id()).integer(CHUNK), SqlRunner::numbers);
    }

    private Set<Long> lockInLane(Connection connection, int topicId, int lane) throws SQLException {
        new LaneKeys(sql).lock(connection, topicId, lane);
        return sql.query(
                connection,
                LOCK_IN_LANE,
                binder -> binder.integer(topicId).integer(lane).integer(CHUNK),
                SqlRunner::numbers);
    }

    private int chunk(Connection connection, Set<Long> seqs) throws SQLException {
        if (seqs.isEmpty()) {
            return 0;
        }
        String reason = DeadReason.HANDLER_RETIRED.name();
        int met = sql.update(connection, ValueList.in(BURY, seqs.size()), binder -> {
            binder.text(reason).text(ERROR).text(ErrorText.fingerprint(reason, ERROR));
            ValueList.bindNumbers(binder, seqs);
        });
        SqlRunner.expect(seqs.size(), met, "bury messages of a retired handler");
        return met;
    }
}
