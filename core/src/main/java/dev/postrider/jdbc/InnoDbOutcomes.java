package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.store.DeadReason;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Outcomes on MySQL, MariaDB and H2. Each is a short transaction: it locks the rows under their tokens, changes them by number, and
 * compares the two counts. In braces: table names, {@code {values}} for a list of parameters, and {@code {delete message}} as in
 * {@link DatabaseKind#spelled}.
 */
final class InnoDbOutcomes implements OutcomeStatements {

    /** Rows of many claims, with their tokens. The caller checks which number belongs to which token. */
    static final String LEASED = """
            SELECT seq, lease_token FROM {message} FORCE INDEX (PRIMARY)
            WHERE seq IN ({values}) AND lease_token IN ({tokens}) AND state = 'PROCESSING'
            """;

    static final String COPY = """
            INSERT INTO {archive} (seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                   attributes, attempts, crashes, created_at, delivered_at, failed_attempts)
            SELECT seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type,
                   CASE WHEN ? THEN payload END, attributes, GREATEST(attempts, 1), crashes, created_at, UTC_TIMESTAMP(6),
                   failed_attempts
            FROM {message} WHERE seq IN ({values})
            """;

    static final String DELETE = "{delete message} WHERE seq IN ({values})";

    static final String RESCHEDULE = """
            UPDATE {message}
            SET state = 'PENDING', attempts = GREATEST(attempts, 1), available_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND,
                last_error = ?,
                failed_attempts = LEFT(CONCAT(DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ'), ?, COALESCE(failed_attempts, '')), 4000),
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = UTC_TIMESTAMP(6)
            WHERE seq = ? AND lease_token = ? AND state = 'PROCESSING'
            """;

    static final String POSTPONE = """
            UPDATE {message}
            SET state = 'PENDING', attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END,
                available_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND,
                last_error = ?, lease_token = NULL, locked_by = NULL,
                locked_until = NULL, updated_at = UTC_TIMESTAMP(6)
            WHERE seq = ? AND lease_token = ? AND state = 'PROCESSING'
            """;

    static final String BURY = """
            UPDATE {message}
            SET state = 'DEAD',
                attempts = CASE WHEN NOT ? THEN GREATEST(attempts, 1) WHEN attempts > 0 THEN attempts - 1 ELSE 0 END,
                reason = ?, last_error = ?, fingerprint = ?,
                failed_attempts = LEFT(CONCAT(DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ'), ?, COALESCE(failed_attempts, '')), 4000),
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = UTC_TIMESTAMP(6)
            WHERE seq = ? AND lease_token = ? AND state = 'PROCESSING'
            """;

    static final String RELEASE = """
            UPDATE {message} FORCE INDEX (PRIMARY)
            SET state = 'PENDING', attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END, available_at = UTC_TIMESTAMP(6),
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = UTC_TIMESTAMP(6)
            WHERE state = 'PROCESSING' AND seq IN ({values})
            """;

    static final String EXTEND =
            "UPDATE {message} FORCE INDEX (PRIMARY) SET locked_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE state = 'PROCESSING' AND seq IN ({values})";

    static final String PRESENT = "SELECT seq, id FROM {message} FORCE INDEX (PRIMARY) WHERE seq IN ({values})";

    private final SqlRunner sql;

    InnoDbOutcomes(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public Set<LeasedRow> acknowledge(Connection connection, List<LeasedRow> rows, TableOptions.Archive archive)
            throws SQLException {
        Set<LeasedRow> held = lockHeld(connection, rows);
        if (archive != TableOptions.Archive.OFF) {
            boolean withPayload = archive == TableOptions.Archive.FULL;
            sql.change(connection, COPY, numbers(held), "archive messages", binder -> binder.flag(withPayload));
        }
        sql.change(connection, DELETE, numbers(held), "delete delivered messages", binder -> {});
        return held;
    }

    @Override
    public Set<LeasedRow> reschedule(Connection connection, List<Rescheduled> rows) throws SQLException {
        Set<LeasedRow> held =
                lockHeld(connection, rows.stream().map(Rescheduled::row).toList());
        Set<LeasedRow> changed = new HashSet<>();
        for (Rescheduled row : rows) {
            if (!held.contains(row.row())) {
                continue;
            }
            int met = sql.update(
                    connection,
                    RESCHEDULE,
                    binder -> binder.micros(row.delay())
                            .text(row.error())
                            .text(row.attempt())
                            .number(row.row().seq())
                            .uuid(row.row().token()));
            if (met == 1) {
                changed.add(row.row());
            }
        }
        return changed;
    }

    @Override
    public Set<LeasedRow> postpone(Connection connection, List<Postponed> rows) throws SQLException {
        Set<LeasedRow> held =
                lockHeld(connection, rows.stream().map(Postponed::row).toList());
        Set<LeasedRow> changed = new HashSet<>();
        for (Postponed row : rows) {
            if (!held.contains(row.row())) {
                continue;
            }
            int met = sql.update(
                    connection,
                    POSTPONE,
                    binder -> binder.micros(row.delay())
                            .text(row.error())
                            .number(row.row().seq())
                            .uuid(row.row().token()));
            if (met == 1) {
                changed.add(row.row());
            }
        }
        return changed;
    }

    @Override
    public Set<LeasedRow> bury(Connection connection, List<BuriedRow> rows) throws SQLException {
        Set<LeasedRow> held =
                lockHeld(connection, rows.stream().map(BuriedRow::row).toList());
        Set<LeasedRow> changed = new HashSet<>();
        for (BuriedRow row : rows) {
            if (!held.contains(row.row())) {
                continue;
            }
            int met = sql.update(
                    connection,
                    BURY,
                    binder -> binder.flag(row.epitaph().reason().equals(DeadReason.EXPIRED.name()))
                            .text(row.epitaph().reason())
                            .text(row.epitaph().error())
                            .text(row.epitaph().fingerprint())
                            .text(row.attempt())
                            .number(row.row().seq())
                            .uuid(row.row().token()));
            if (met == 1) {
                changed.add(row.row());
            }
        }
        return changed;
    }

    @Override
    public Set<LeasedRow> release(Connection connection, List<LeasedRow> rows) throws SQLException {
        Set<LeasedRow> held = lockHeld(connection, rows);
        sql.change(connection, RELEASE, numbers(held), "release messages", binder -> {});
        return held;
    }

    @Override
    public Set<LeasedRow> extend(Connection connection, List<LeasedRow> rows, Duration lease) throws SQLException {
        Set<LeasedRow> held = lockHeld(connection, rows);
        sql.change(connection, EXTEND, numbers(held), "extend leases", binder -> binder.micros(lease));
        return held;
    }

    @Override
    public Set<LeasedRow> stillLeased(Connection connection, List<LeasedRow> rows) throws SQLException {
        return held(connection, rows, "");
    }

    private Set<LeasedRow> lockHeld(Connection connection, List<LeasedRow> rows) throws SQLException {
        return held(connection, rows, "FOR UPDATE SKIP LOCKED");
    }

    private Set<LeasedRow> held(Connection connection, List<LeasedRow> rows, String lock) throws SQLException {
        List<Long> seqs = rows.stream().map(LeasedRow::seq).toList();
        List<UUID> tokens = rows.stream().map(LeasedRow::token).distinct().toList();
        String select = LEASED.replace("{tokens}", ValueList.placeholders(tokens.size())) + lock;
        Set<LeasedRow> locked = sql.query(
                connection,
                ValueList.in(select, seqs.size()),
                binder -> {
                    ValueList.bindNumbers(binder, seqs);
                    for (UUID token : ValueList.padded(tokens)) {
                        binder.uuid(token);
                    }
                },
                LeasedRow.reader(sql));
        locked.retainAll(new HashSet<>(rows));
        return locked;
    }

    private static List<Long> numbers(Set<LeasedRow> rows) {
        return rows.stream().map(LeasedRow::seq).sorted().toList();
    }

    @Override
    public Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException {
        return sql.query(
                connection,
                ValueList.in(PRESENT, seqs.size()),
                binder -> ValueList.bindNumbers(binder, seqs),
                sql::numbersWithIds);
    }
}
