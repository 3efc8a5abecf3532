package dev.postrider.jdbc;

/** The statements of commands, the same on every database but for the INSERT. */
final class CommandSql {

    /** What a {@link CommandRow} reads. */
    static final String COLUMNS =
            "id, reference, state, owner, fence, fingerprint, fingerprint_version, attempts, uncertain_if_lost, outcome,"
                    + " result_kind, result_codec, result, reason, steps, lease_until, key_expires_at, result_expires_at,"
                    + " {now} AS read_at";

    /** Never a look first: of many who come at once, the primary key lets one in. */
    static final String INSERT = """
            INSERT INTO {command} (id, reference, operation, tenant, caller, key_prefix, state, owner, fence, lease_micros,
                lease_until, uncertain_if_lost, effect_started, attempts, fingerprint, fingerprint_version, created_at, updated_at,
                key_expires_at)
            VALUES (?, ?, ?, ?, ?, ?, 'IN_PROGRESS', ?, 1, ?, {later}, ?, FALSE, 1, ?, ?, {now}, {now}, {later})
            """;

    static final String FIND = "SELECT " + COLUMNS + " FROM {command} WHERE id = ?";

    /** A failed one, or one whose owner is taken for dead: the same command goes on. Owner and fence tell whether anybody was quicker. */
    static final String RETAKE = """
            UPDATE {command}
            SET state = 'IN_PROGRESS', owner = ?, fence = fence + 1, lease_micros = ?, lease_until = {later}, uncertain_if_lost = ?,
                effect_started = FALSE, attempts = attempts + 1, reason = NULL, updated_at = {now}, key_expires_at = {later}
            WHERE id = ? AND owner = ? AND fence = ?
              AND (state = 'FAILED' OR state = 'IN_PROGRESS' AND lease_until <= {now} AND NOT uncertain_if_lost)
            """;

    /** A key whose time is over, used anew: another command in the same row, so that the fence goes on. */
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

    /** In a business transaction this is the last statement: an owner who was replaced cannot commit. */
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

    static final String DOUBT = """
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

    /** Those that somebody is just ending are locked, and passed over: a heartbeat waits for nobody. */
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

    // Forgetting, in two stages. What is to be changed is locked first, in the order of an index; the change repeats
    // the condition.

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
