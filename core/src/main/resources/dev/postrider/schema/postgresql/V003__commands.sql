-- Postrider, schema version 3, PostgreSQL 13 and later: idempotent commands.

-- Commands that run once per (tenant, caller, operation, key). The id is the SHA-256 of these four, exact on every database whatever
-- its collations; the key itself is not kept, only the beginning of a long one. A fence rises with every owner of a row.
CREATE TABLE ${tables}command (
    id                  bytea NOT NULL,
    reference           uuid NOT NULL,
    operation           varchar(100) NOT NULL,
    tenant              varchar(255),
    caller              varchar(255),
    key_prefix          varchar(8) NOT NULL,
    state               varchar(11) NOT NULL,
    owner               uuid NOT NULL,
    fence               bigint NOT NULL,
    lease_micros        bigint NOT NULL,
    lease_until         timestamptz NOT NULL,
    uncertain_if_lost   boolean NOT NULL,
    effect_started      boolean NOT NULL,
    attempts            integer NOT NULL,
    fingerprint         bytea NOT NULL,
    fingerprint_version smallint NOT NULL,
    steps               bytea,
    outcome             varchar(8),
    result_kind         varchar(7),
    result_codec        varchar(100),
    result              bytea,
    reason              varchar(2000),
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    completed_at        timestamptz,
    result_expires_at   timestamptz,
    key_expires_at      timestamptz NOT NULL,
    CONSTRAINT ${prefix}command_pk PRIMARY KEY (id),
    CONSTRAINT ${prefix}command_reference UNIQUE (reference),
    CONSTRAINT ${prefix}command_state CHECK (state IN ('IN_PROGRESS', 'COMPLETED', 'FAILED', 'UNCERTAIN')
        AND (state <> 'COMPLETED' OR outcome IN ('SUCCESS', 'REJECTED') AND result_kind IS NOT NULL AND completed_at IS NOT NULL))
);
-- For the two stages in which a command is purged.
CREATE INDEX ${prefix}command_result_end ON ${tables}command (result_expires_at) WHERE result_expires_at IS NOT NULL;
CREATE INDEX ${prefix}command_key_end ON ${tables}command (key_expires_at);
-- For the sweep of lost commands, which are few beside the completed ones. lease_until is in no index: a heartbeat touches none.
CREATE INDEX ${prefix}command_open ON ${tables}command (state, created_at) WHERE state <> 'COMPLETED';

-- The last statement: without it the file is applied again.
INSERT INTO ${tables}schema (version, min_compatible) VALUES (3, 1);
