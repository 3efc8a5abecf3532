-- Postrider, schema version 1, MariaDB 10.6 and later.
-- ${tables} is the prefix of table names, with the database before it if one is set; ${prefix} is the bare prefix, for index names.
-- Data definition commits by itself here, so every statement can be run again after a crash in between.
-- Times are UTC to the microsecond. Text compares byte by byte, trailing blanks included: topics, tenants and keys that differ
-- only in case or in a blank at the end are different.

-- Which versions were applied, and the oldest library, by the version it knows, that works with the tables.
CREATE TABLE IF NOT EXISTS ${tables}schema (
    version        INT         NOT NULL,
    min_compatible INT         NOT NULL,
    applied_at     DATETIME(6) NOT NULL,
    PRIMARY KEY (version)
) ENGINE = InnoDB;

-- A row has what every message needs. What is rarely set is packed in attributes, a JSON object with the members that are set: headers
-- (an object of strings), correlationId, causationId, traceparent, tracestate, source, subject, occurredAt (unless it is the time in the
-- id), deliverAt. Without the member v it is of version 1. Its first member is "compression":"zlib" where the payload is compressed: its
-- size in four bytes, the lowest first, and then a zlib stream, as COMPRESS of MySQL and MariaDB writes it. "encryption" comes before that,
-- with the id of the key: the column has the size of the clear payload, and then what the cipher made of it. content_type is null for
-- application/json. topic is for people and for change data capture: the code goes by topic_id. updated_at is when an outcome or an
-- operator last changed the row.
-- failed_attempts is the history of the failed attempts: a line for each, the newest first, with its time, its number, the node, and a
-- JSON object of error, fingerprint and tookMs. Only the first 4000 characters are kept.
CREATE TABLE IF NOT EXISTS ${tables}message (
    seq             BIGINT       NOT NULL AUTO_INCREMENT,
    id              BINARY(16)   NOT NULL,
    topic_id        INT          NOT NULL,
    available_at    DATETIME(6)  NOT NULL,
    created_at      DATETIME(6)  NOT NULL,
    topic           VARCHAR(100) NOT NULL,
    type            VARCHAR(255) NOT NULL,
    tenant          VARCHAR(255),
    ordering_key    VARCHAR(255),
    idempotency_key VARCHAR(255),
    content_type    VARCHAR(100),
    payload         LONGBLOB     NOT NULL,
    attributes      MEDIUMTEXT,
    lane            SMALLINT,
    crashes         INT          NOT NULL DEFAULT 0,
    -- One byte in the row and in two indexes. A new state is added at the end.
    state           ENUM ('PENDING', 'PROCESSING', 'SCHEDULED', 'RETRY', 'BLOCKED', 'PARKED', 'DEAD')
                                 CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'PENDING',
    attempts        INT          NOT NULL DEFAULT 0,
    locked_until    DATETIME(6),
    lease_token     BINARY(16),
    locked_by       VARCHAR(100),
    last_error      MEDIUMTEXT,
    reason          VARCHAR(20),
    fingerprint     VARCHAR(16),
    updated_at      DATETIME(6),
    failed_attempts TEXT,
    PRIMARY KEY (seq),
    UNIQUE KEY ${prefix}message_id (id),
    -- No partial indexes here, so state leads; one index answers what is due, what is leased and what is dead.
    KEY ${prefix}message_due (state, topic_id, available_at, seq),
    -- The lanes of ordered topics: what is next, and what waits.
    KEY ${prefix}message_lane (state, topic_id, lane, seq),
    -- Refuses what the code never writes: a lease without an end, a dead letter without a reason, a time out of range.
    -- One constraint instead of five: each costs every insert.
    CONSTRAINT ${prefix}message_sound CHECK (
        CASE WHEN state = 'PROCESSING' THEN lane IS NULL AND lease_token IS NOT NULL AND locked_until IS NOT NULL AND reason IS NULL
             ELSE lease_token IS NULL AND locked_until IS NULL AND (
                 state = 'PENDING' AND reason IS NULL
                 OR state = 'DEAD' AND reason IS NOT NULL
                 OR state IN ('SCHEDULED', 'RETRY', 'BLOCKED') AND lane IS NOT NULL AND reason IS NULL
                 OR state = 'PARKED' AND lane IS NOT NULL AND reason IS NOT NULL)
        END
        AND attempts >= 0 AND crashes >= 0
        AND available_at BETWEEN '1970-01-01 00:00:00' AND '9999-12-31 23:59:59.999999')
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS ${tables}archive (
    seq             BIGINT       NOT NULL,
    id              BINARY(16)   NOT NULL,
    topic_id        INT          NOT NULL,
    topic           VARCHAR(100) NOT NULL,
    type            VARCHAR(255) NOT NULL,
    tenant          VARCHAR(255),
    ordering_key    VARCHAR(255),
    idempotency_key VARCHAR(255),
    content_type    VARCHAR(100),
    payload         LONGBLOB,
    attributes      MEDIUMTEXT,
    attempts        INT          NOT NULL,
    crashes         INT          NOT NULL,
    created_at      DATETIME(6)  NOT NULL,
    delivered_at    DATETIME(6)  NOT NULL,
    failed_attempts TEXT,
    -- When an operator wrote the message to the queue again: that happens once.
    redelivered_at  DATETIME(6),
    PRIMARY KEY (delivered_at, seq),
    KEY ${prefix}archive_id (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The only place that decides whether an idempotency key was used: messages move, marks stay for their window.
CREATE TABLE IF NOT EXISTS ${tables}dedup (
    topic_id     INT         NOT NULL,
    key_hash     BINARY(32)  NOT NULL,
    message_id   BINARY(16)  NOT NULL,
    payload_hash BINARY(32)  NOT NULL,
    seen_at      DATETIME(6) NOT NULL,
    PRIMARY KEY (topic_id, key_hash),
    KEY ${prefix}dedup_seen (seen_at)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS ${tables}topic (
    id                   INT          NOT NULL AUTO_INCREMENT,
    namespace            VARCHAR(100) NOT NULL,
    topic                VARCHAR(100) NOT NULL,
    lanes                SMALLINT     NOT NULL,
    tenant_prefixed_keys BOOLEAN      NOT NULL,
    paused               BOOLEAN      NOT NULL DEFAULT FALSE,
    created_at           DATETIME(6)  NOT NULL,
    removed_at           DATETIME(6),
    PRIMARY KEY (id),
    UNIQUE KEY ${prefix}topic_name (namespace, topic)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The lanes of ordered topics. Free while owner is null, and from then on, until; owned otherwise, and lost after until. Each owner
-- makes a new token, each change of an operator raises the revision, and every outcome carries both.
CREATE TABLE IF NOT EXISTS ${tables}lane (
    topic_id INT NOT NULL,
    lane     SMALLINT NOT NULL,
    owner    VARCHAR(100),
    token    BINARY(16),
    until    DATETIME(6) NOT NULL,
    -- Nothing that is still to be delivered in order has a lower number or this one.
    floor    BIGINT NOT NULL DEFAULT 0,
    -- How many messages the owner may have in flight, and the number of the one in isolated delivery: for the owner after a crash.
    buffer   INT NOT NULL DEFAULT 0,
    isolated BIGINT,
    revision INT NOT NULL DEFAULT 0,
    PRIMARY KEY (topic_id, lane)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The nodes. The topics that a node delivers are listed by their numbers, with commas between.
CREATE TABLE IF NOT EXISTS ${tables}node (
    instance   BINARY(16) NOT NULL,
    worker     VARCHAR(100) NOT NULL,
    version    VARCHAR(50) NOT NULL,
    topics     TEXT NOT NULL,
    started_at DATETIME(6) NOT NULL,
    until      DATETIME(6) NOT NULL,
    PRIMARY KEY (instance)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS ${tables}audit (
    id         BIGINT       NOT NULL AUTO_INCREMENT,
    at         DATETIME(6)  NOT NULL,
    operator   VARCHAR(255) NOT NULL,
    action     VARCHAR(20)  NOT NULL,
    namespace  VARCHAR(100) NOT NULL,
    topic      VARCHAR(100) NOT NULL,
    message_id BINARY(16),
    -- Of a change of several messages: what selected them, and how many one transaction changed and skipped.
    filter_text TEXT,
    changed    INT,
    skipped    INT,
    reason     VARCHAR(1000),
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Actions by filter that nodes work off in steps. A step is made by the node with the token, until its time is over; it commits its changes
-- together with the position that it has reached and the counts. filter_json is a JSON object with the version in the member v.
CREATE TABLE IF NOT EXISTS ${tables}operation (
    id            BIGINT NOT NULL AUTO_INCREMENT,
    action        VARCHAR(20) NOT NULL,
    filter_json   MEDIUMTEXT NOT NULL,
    operator      VARCHAR(255) NOT NULL,
    reason        VARCHAR(1000),
    message_limit BIGINT,
    per_second    INT,
    state         VARCHAR(10) NOT NULL,
    reached       VARCHAR(100),
    changed       BIGINT NOT NULL DEFAULT 0,
    skipped       BIGINT NOT NULL DEFAULT 0,
    token         BINARY(16) NOT NULL,
    node          VARCHAR(100),
    until         DATETIME(6) NOT NULL,
    failures      INT NOT NULL DEFAULT 0,
    error         VARCHAR(1000),
    created_at    DATETIME(6) NOT NULL,
    started_at    DATETIME(6),
    updated_at    DATETIME(6) NOT NULL,
    ended_at      DATETIME(6),
    PRIMARY KEY (id),
    KEY ${prefix}operation_open (ended_at, until)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The counts of the database that operators see. The node that finds due_at passed is elected by a change of its token, counts, and writes
-- the result for all nodes: one row, a JSON object.
CREATE TABLE IF NOT EXISTS ${tables}sample (
    only_one BOOLEAN NOT NULL,
    token    BINARY(16),
    node     VARCHAR(100),
    due_at   DATETIME(6) NOT NULL,
    taken_at DATETIME(6),
    content  MEDIUMTEXT,
    PRIMARY KEY (only_one)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
INSERT IGNORE INTO ${tables}sample (only_one, due_at) VALUES (TRUE, UTC_TIMESTAMP(6));

-- For people at a console: payloads as text, compressed ones too. Encrypted ones are not shown.
CREATE OR REPLACE VIEW ${tables}message_text AS
SELECT m.seq, HEX(m.id) AS id, t.namespace, m.topic, m.type, m.tenant, m.ordering_key, m.idempotency_key, m.lane, m.state, m.attempts,
       m.crashes, m.available_at, m.locked_by, m.locked_until, m.reason, m.last_error, m.created_at, m.updated_at,
       m.failed_attempts, COALESCE(m.content_type, 'application/json') AS content_type, m.attributes,
       CASE WHEN m.attributes LIKE '{"compression":"zlib"%'
            THEN COALESCE(CONVERT(UNCOMPRESS(m.payload) USING utf8mb4), CONCAT('damaged zlib, in base64: ', TO_BASE64(m.payload)))
            WHEN m.attributes LIKE '{"encryption":%' THEN CONCAT('encrypted, ', OCTET_LENGTH(m.payload), ' bytes')
            ELSE CONVERT(m.payload USING utf8mb4) END AS payload
FROM ${tables}message m LEFT JOIN ${tables}topic t ON t.id = m.topic_id;

-- The last statement: without it the file is applied again.
INSERT INTO ${tables}schema (version, min_compatible, applied_at) VALUES (1, 1, UTC_TIMESTAMP(6));
