-- Postrider, schema version 2, H2 2.2 and later: the inbox.

-- Which messages each consumer has had. A message without a tenant has an empty one.
CREATE TABLE IF NOT EXISTS ${tables}inbox_mark (
    message_id   UUID          NOT NULL,
    consumer     VARCHAR(100)  NOT NULL,
    tenant       VARCHAR(255)  NOT NULL,
    payload_hash VARBINARY(32) NOT NULL,
    seen_at      TIMESTAMP(6) WITH TIME ZONE NOT NULL,
    PRIMARY KEY (message_id, consumer, tenant)
);

CREATE INDEX IF NOT EXISTS ${prefix}inbox_mark_seen ON ${tables}inbox_mark (seen_at);

-- Who handles what: a receiver gives each message to all handlers of its consumer and type, also to those of other nodes. The type
-- * stands for all.
CREATE TABLE IF NOT EXISTS ${tables}inbox_handler (
    consumer   VARCHAR(100) NOT NULL,
    handler    VARCHAR(100) NOT NULL,
    type       VARCHAR(255) NOT NULL,
    created_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
    PRIMARY KEY (consumer, handler, type)
);

-- The last statement: without it the file is applied again.
INSERT INTO ${tables}schema (version, min_compatible) VALUES (2, 1);
