-- Postrider, schema version 2, PostgreSQL 13 and later: the inbox.

-- Which messages each consumer has had. The id comes first: those of version 7 rise, so that new marks go to one end of the index.
-- A message without a tenant has an empty one.
CREATE TABLE ${tables}inbox_mark (
    message_id   uuid         NOT NULL,
    consumer     varchar(100) NOT NULL,
    tenant       varchar(255) NOT NULL,
    payload_hash bytea        NOT NULL,
    seen_at      timestamptz  NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT ${prefix}inbox_mark_pk PRIMARY KEY (message_id, consumer, tenant)
);
CREATE INDEX ${prefix}inbox_mark_seen ON ${tables}inbox_mark (seen_at);

-- Where marks are kept in partitions, those of ids of version 7 below this one are gone, and such ids are refused: one row, or none.
CREATE TABLE ${tables}inbox_floor (
    only_one boolean NOT NULL DEFAULT true CHECK (only_one),
    floor    uuid    NOT NULL,
    CONSTRAINT ${prefix}inbox_floor_pk PRIMARY KEY (only_one)
);

-- Who handles what: a receiver gives each message to all handlers of its consumer and type, also to those of other nodes. The type
-- * stands for all.
CREATE TABLE ${tables}inbox_handler (
    consumer   varchar(100) NOT NULL,
    handler    varchar(100) NOT NULL,
    type       varchar(255) NOT NULL,
    created_at timestamptz  NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT ${prefix}inbox_handler_pk PRIMARY KEY (consumer, handler, type)
);

-- The last statement: without it the file is applied again.
INSERT INTO ${tables}schema (version, min_compatible) VALUES (2, 1);
