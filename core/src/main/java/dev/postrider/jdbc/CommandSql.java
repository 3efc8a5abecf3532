package dev.postrider.jdbc;

/** The statements of commands. They are the same on every database, except the INSERT. */
final class CommandSql {

    /** The columns that a {@link CommandRow} reads. */
    static final String COLUMNS =
            "id, reference, state, owner, fence, fingerprint, fingerprint_version, attempts, uncertain_if_lost, outcome,"
                    + " result_kind, result_codec, result, reason, steps, lease_until, key_expires_at, result_expires_at,"
                    + " {now} AS read_at";

    /** Inserts without a SELECT before it: of many concurrent callers, the primary key admits one. */
    static final String INSERT = """
            INSERT INTO {command} (id, reference, operation, tenant, caller, key_prefix, state, owner, fence, lease_micros,
                lease_until, uncertain_if_lost, effect_started, attempts, fingerprint, fingerprint_version, created_at, updated_at,
                key_expires_at)
            VALUES (?, ?, ?, ?, ?, ?, 'IN_PROGRESS', ?, 1, ?, {later}, ?, FALSE, 1, ?, ?, {now}, {now}, {later})
            """;

    static final String FIND = "SELECT " + COLUMNS + " FROM {command} WHERE id = ?";

    /**
     * Takes over a failed command, or a command whose owner lost its lease. It stays the same command. The statement checks owner and
     * fence, so it changes no row if another caller was faster.
     */
    static final String RETAKE = """
            UPDATE {command}
            SET state = 'IN_PROGRESS', owner = ?, fence = fence + 1, lease_micros = ?, lease_until = {later}, uncertain_if_lost = ?,
                effect_started = FALSE, attempts = attempts + 1, reason = NULL, updated_at = {now}, key_expires_at = {later}
            WHERE id = ? AND owner = ? AND fence = ?
              AND (state = 'FAILED' OR state = 'IN_PROGRESS' AND lease_until <= {now} AND NOT uncertain_if_lost)
            """;

    /** Starts another command for a key that has expired. It uses the same row, so that the fence keeps rising. */
    static final String RESTART = """
            UPDATE {command}
            SET reference = ?, operation = ?, tenant = ?, caller = ?, key_prefix = ?, state = 'IN_PROGRESS', owner = ?,
                fence = fence + 1, lease_micros = ?, lease_until = {later}, uncertain_if_lost = ?, effect_started = FALSE,
                attempts = 1, fingerprint = ?, fingerprint_version = ?, steps = NULL, outcome = NULL, result_kind = NULL,
                result_codec = NULL, result = NULL, reason = NULL, created_at = {now}, updated_at = {now}, completed_at = NULL,
                result_expires_at = NULL, key_expires_at = {later}
            WHERE id = ? AND owner = ? AND fence = ? AND key_expires_at <= {now}
              AND (state IN ('COMPLETED', 'FAILED') OR state = 'IN_PROGRESS' AND lease_until <= {now} AND NOT uncertain_if_lost)
            """;

    /** Completes a command. In a business transaction this is the last statement: an owner that was replaced cannot commit. */
    static final String COMPLETE = """
            UPDATE {command}
            SET state = 'COMPLETED', outcome = ?, result_kind = ?, result_codec = ?, result = ?, reason = ?, steps = NULL,
                updated_at = {now}, completed_at = {now}, result_expires_at = CASE WHEN ? THEN {later} END, key_expires_at = {later}
            WHERE id = ? AND owner = ? AND fence = ? AND state IN ('IN_PROGRESS', 'UNCERTAIN')
            """;

    static final String FAIL = """
            UPDATE {command}
            SET state = CASE WHEN attempts >= ? THEN 'UNCERTAIN' ELSE 'FAILED' END, reason = ?, updated_at = {now}
            WHERE id = ? AND owner = ? AND fence = ? AND state IN ('IN_PROGRESS', 'UNCERTAIN')
            """;

    static final String MARK_UNCERTAIN = """
            UPDATE {command} SET state = 'UNCERTAIN', updated_at = {now}
            WHERE id = ? AND owner = ? AND fence = ? AND state = 'IN_PROGRESS' AND lease_until <= {now}
            """;

    static final String START_EFFECT = """
            UPDATE {command} SET effect_started = TRUE, uncertain_if_lost = ?, updated_at = {now}
            WHERE id = ? AND owner = ? AND fence = ? AND state = 'IN_PROGRESS'
            """;

    static final String SAVE_STEPS = """
            UPDATE {command} SET steps = ?, updated_at = {now}
            WHERE id = ? AND owner = ? AND fence = ? AND state = 'IN_PROGRESS'
            """;

    /** Skips locked rows: another transaction is just completing these commands, and a heartbeat must not wait for it. */
    static final String LOCK_RENEWED = """
            SELECT id, owner, fence FROM {command}{by key}
            WHERE id IN ({values}) AND owner IN ({owners}) AND state = 'IN_PROGRESS'
            FOR UPDATE SKIP LOCKED
            """;

    static final String RENEW =
            "UPDATE {command}{by key} SET lease_until = {renewed} WHERE id IN ({values}) AND state = 'IN_PROGRESS'";

    static final String STILL_OWNED = """
            SELECT id, owner, fence FROM {command}
            WHERE id IN ({values}) AND owner IN ({owners}) AND state IN ('IN_PROGRESS', 'UNCERTAIN')
            """;

    // The purge has two stages. The first statement locks rows in the order of an index. The second changes these rows
    // and repeats the condition.

    static final String LOCK_OLD_RESULTS = """
            SELECT id FROM {command} WHERE result_expires_at <= {now}
            ORDER BY result_expires_at LIMIT ? FOR UPDATE SKIP LOCKED
            """;

    static final String DROP_RESULTS = """
            UPDATE {command}{by key} SET result = NULL, result_codec = NULL, result_kind = 'DROPPED', result_expires_at = NULL
            WHERE id IN ({values}) AND state = 'COMPLETED' AND result_expires_at <= {now}
            """;

    private static final String OVER = """
            key_expires_at <= {now}
              AND (state IN ('COMPLETED', 'FAILED') OR state = 'IN_PROGRESS' AND lease_until <= {now} AND NOT uncertain_if_lost)
            """;

    static final String LOCK_OLD_KEYS =
            "SELECT id FROM {command} WHERE " + OVER + " ORDER BY key_expires_at LIMIT ? FOR UPDATE SKIP LOCKED";

    static final String DELETE_KEYS = "{delete command} WHERE id IN ({values}) AND " + OVER;

    private static final String LOST = "state = 'IN_PROGRESS' AND lease_until <= {now} AND uncertain_if_lost";

    static final String LOCK_LOST =
            "SELECT id FROM {command} WHERE " + LOST + " ORDER BY created_at LIMIT ? FOR UPDATE SKIP LOCKED";

    static final String DOUBT_LOST =
            "UPDATE {command}{by key} SET state = 'UNCERTAIN', updated_at = {now} WHERE id IN ({values}) AND " + LOST;

    private CommandSql() {}
}
