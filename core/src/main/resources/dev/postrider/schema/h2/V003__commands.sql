-- Postrider, schema version 3, H2 2.2 and later: idempotent commands.

-- Commands that run once per (tenant, caller, operation, key). The id is the SHA-256 of these four, exact on every database whatever
-- its collations; the key itself is not kept, only the beginning of a long one. A fence rises with every owner of a row.
CREATE TABLE IF NOT EXISTS ${tables}command (
    id                  VARBINARY(32) NOT NULL,
    reference           UUID NOT NULL,
    operation           VARCHAR(100) NOT NULL,
    tenant              VARCHAR(255),
    caller              VARCHAR(255),
    key_prefix          VARCHAR(8) NOT NULL,
    state               VARCHAR(11) NOT NULL,
    owner               UUID NOT NULL,
    fence               BIGINT NOT NULL,
    lease_micros        BIGINT NOT NULL,
    lease_until         TIMESTAMP(6) WITH TIME ZONE NOT NULL,
    uncertain_if_lost   BOOLEAN NOT NULL,
    effect_started      BOOLEAN NOT NULL,
    attempts            INT NOT NULL,
    fingerprint         VARBINARY(32) NOT NULL,
    fingerprint_version SMALLINT NOT NULL,
    steps               VARBINARY(1100000),
    outcome             VARCHAR(8),
    result_kind         VARCHAR(7),
    result_codec        VARCHAR(100),
    result              VARBINARY(1100000),
    reason              VARCHAR(2000),
    created_at          TIMESTAMP(6) WITH TIME ZONE NOT NULL,
    updated_at          TIMESTAMP(6) WITH TIME ZONE NOT NULL,
    completed_at        TIMESTAMP(6) WITH TIME ZONE,
    result_expires_at   TIMESTAMP(6) WITH TIME ZONE,
    key_expires_at      TIMESTAMP(6) WITH TIME ZONE NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT ${prefix}command_reference UNIQUE (reference),
    CONSTRAINT ${prefix}command_state CHECK (state IN ('IN_PROGRESS', 'COMPLETED', 'FAILED', 'UNCERTAIN')
        AND (state <> 'COMPLETED' OR outcome IN ('SUCCESS', 'REJECTED') AND result_kind IS NOT NULL AND completed_at IS NOT NULL))
);

-- For the two stages in which a command is purged, and for the sweep of lost commands.
CREATE INDEX IF NOT EXISTS ${prefix}command_result_end ON ${tables}command (result_expires_at);
CREATE INDEX IF NOT EXISTS ${prefix}command_key_end ON ${tables}command (key_expires_at);
CREATE INDEX IF NOT EXISTS ${prefix}command_open ON ${tables}command (state, created_at);

-- The last statement: without it the file is applied again.
INSERT INTO ${tables}schema (version, min_compatible) VALUES (3, 1);
