-- Postrider, schema version 3, MySQL 8: idempotent commands.

-- Commands that run once per (tenant, caller, operation, key). The id is the SHA-256 of these four, exact on every database whatever
-- its collations; the key itself is not kept, only the beginning of a long one. A fence rises with every owner of a row.
-- The keys are, in order: for operators, for the two stages in which a command is purged, for the sweep of lost commands.
CREATE TABLE IF NOT EXISTS ${tables}command (
    id                  BINARY(32) NOT NULL,
    reference           BINARY(16) NOT NULL,
    operation           VARCHAR(100) NOT NULL,
    tenant              VARCHAR(255),
    caller              VARCHAR(255),
    key_prefix          VARCHAR(8) NOT NULL,
    state               VARCHAR(11) NOT NULL,
    owner               BINARY(16) NOT NULL,
    fence               BIGINT NOT NULL,
    lease_micros        BIGINT NOT NULL,
    lease_until         DATETIME(6) NOT NULL,
    uncertain_if_lost   BOOLEAN NOT NULL,
    effect_started      BOOLEAN NOT NULL,
    attempts            INT NOT NULL,
    fingerprint         BINARY(32) NOT NULL,
    fingerprint_version SMALLINT NOT NULL,
    steps               MEDIUMBLOB,
    outcome             VARCHAR(8),
    result_kind         VARCHAR(7),
    result_codec        VARCHAR(100),
    result              MEDIUMBLOB,
    reason              VARCHAR(2000),
    created_at          DATETIME(6) NOT NULL,
    updated_at          DATETIME(6) NOT NULL,
    completed_at        DATETIME(6),
    result_expires_at   DATETIME(6),
    key_expires_at      DATETIME(6) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY ${prefix}command_reference (reference),
    KEY ${prefix}command_result_end (result_expires_at),
    KEY ${prefix}command_key_end (key_expires_at),
    KEY ${prefix}command_open (state, created_at),
    CONSTRAINT ${prefix}command_state CHECK (state IN ('IN_PROGRESS', 'COMPLETED', 'FAILED', 'UNCERTAIN')
        AND (state <> 'COMPLETED' OR outcome IN ('SUCCESS', 'REJECTED') AND result_kind IS NOT NULL AND completed_at IS NOT NULL))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- The last statement: without it the file is applied again.
INSERT INTO ${tables}schema (version, min_compatible, applied_at) VALUES (3, 1, UTC_TIMESTAMP(6));
