-- Postrider, schema version 2, MySQL 8: the inbox.

-- Which messages each consumer has had. The id comes first: those of version 7 rise, so that new marks go to one end of the index.
-- A message without a tenant has an empty one.
CREATE TABLE IF NOT EXISTS ${tables}inbox_mark (
    message_id   BINARY(16)   NOT NULL,
    consumer     VARCHAR(100) NOT NULL,
    tenant       VARCHAR(255) NOT NULL,
    payload_hash BINARY(32)   NOT NULL,
    seen_at      DATETIME(6)  NOT NULL,
    PRIMARY KEY (message_id, consumer, tenant),
    KEY ${prefix}inbox_mark_seen (seen_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- Who handles what: a receiver gives each message to all handlers of its consumer and type, also to those of other nodes. The type
-- * stands for all.
CREATE TABLE IF NOT EXISTS ${tables}inbox_handler (
    consumer   VARCHAR(100) NOT NULL,
    handler    VARCHAR(100) NOT NULL,
    type       VARCHAR(255) NOT NULL,
    created_at DATETIME(6)  NOT NULL,
    PRIMARY KEY (consumer, handler, type)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- The last statement: without it the file is applied again.
INSERT INTO ${tables}schema (version, min_compatible, applied_at) VALUES (2, 1, UTC_TIMESTAMP(6));
