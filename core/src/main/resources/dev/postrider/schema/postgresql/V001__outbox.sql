-- Postrider, schema version 1, PostgreSQL 13 and later.
-- ${tables} is the prefix of table names, with the schema before it if one is set; ${prefix} is the bare prefix, for index names.

-- Which versions were applied, and the oldest library, by the version it knows, that works with the tables.
CREATE TABLE IF NOT EXISTS ${tables}schema (
    version        integer     NOT NULL,
    min_compatible integer     NOT NULL,
    applied_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT ${prefix}schema_pk PRIMARY KEY (version)
);

-- seq is the order of insertion. The default takes the transaction id before the number, so that no row has a number before
-- its transaction shows as running. CACHE 1: sessions that hold numbers back would break that order.
CREATE SEQUENCE ${tables}message_seq AS bigint CACHE 1;

-- A row has what every message needs. What is rarely set is packed in attributes, a JSON object with the members that are set: headers
-- (an object of strings), correlationId, causationId, traceparent, tracestate, source, subject, occurredAt (unless it is the time in the
-- id), deliverAt. Without the member v it is of version 1. Its first member is "compression":"zlib" where the payload is compressed: its
-- size in four bytes, the lowest first, and then a zlib stream, as COMPRESS of MySQL and MariaDB writes it. "encryption" comes before that,
-- with the id of the key: the column has the size of the clear payload, and then what the cipher made of it. content_type is null for
-- application/json. topic is for people and for change data capture: the code goes by topic_id. updated_at is when an outcome or an
-- operator last changed the row.
-- failed_attempts is the history of the failed attempts: a line for each, the newest first, with its time, its number, the node, and a
-- JSON object of error, fingerprint and tookMs. Only the first 4000 characters are kept.
-- No CHECK: PostgreSQL parses it again for every INSERT, a tenth of the insert's time. The statements rely on this, and tests check it:
-- the state is one of the seven of RowState, a row has a lease token and an end of the lease exactly while it is PROCESSING, and no due
-- time is before 1970. docs/databases.md has the query for tables that other programs have changed.
CREATE TABLE ${tables}message (
    seq             bigint       NOT NULL DEFAULT CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('${tables}message_seq') END,
    id              uuid         NOT NULL,
    topic_id        integer      NOT NULL,
    available_at    timestamptz  NOT NULL DEFAULT clock_timestamp(),
    created_at      timestamptz  NOT NULL DEFAULT clock_timestamp(),
    topic           varchar(100) NOT NULL,
    type            varchar(255) NOT NULL,
    tenant          varchar(255),
    ordering_key    varchar(255),
    idempotency_key varchar(255),
    content_type    varchar(100),
    payload         bytea        NOT NULL,
    attributes      text,
    lane            smallint,
    crashes         integer      NOT NULL DEFAULT 0,
    state           varchar(10)  NOT NULL DEFAULT 'PENDING',
    attempts        integer      NOT NULL DEFAULT 0,
    locked_until    timestamptz,
    lease_token     uuid,
    locked_by       varchar(100),
    last_error      text,
    reason          varchar(20),
    fingerprint     varchar(16),
    updated_at      timestamptz,
    failed_attempts text,
    CONSTRAINT ${prefix}message_pk PRIMARY KEY (seq)
) WITH (
    -- A claim writes a new version of the row. On the same page only what lies between the first and the last changed column is
    -- logged: hence half of each page is left free, and the columns that a claim changes are next to each other.
    fillfactor = 50,
    -- A queue's table is nearly all churn: vacuum by number of dead rows, not by their share.
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000
);
ALTER SEQUENCE ${tables}message_seq OWNED BY ${tables}message.seq;

CREATE UNIQUE INDEX ${prefix}message_id ON ${tables}message (id);
-- One index for each question, each in the order of its answer, so that a scan that begins where the last one ended steps over little.
-- updated_at, last_error and failed_attempts are in none of them, neither as a column nor in a condition.
CREATE INDEX ${prefix}message_due ON ${tables}message (topic_id, available_at, seq) WHERE state = 'PENDING' AND lane IS NULL;
CREATE INDEX ${prefix}message_leased ON ${tables}message (topic_id, locked_until) WHERE state = 'PROCESSING';
CREATE INDEX ${prefix}message_dead ON ${tables}message (topic_id, seq) WHERE state = 'DEAD';
-- Ordered topics: what is next in a lane; what waits there for its time; the heads of blocked keys; what waits in a blocked key.
CREATE INDEX ${prefix}message_hot ON ${tables}message (topic_id, lane, seq) WHERE state = 'PENDING' AND lane IS NOT NULL;
CREATE INDEX ${prefix}message_timed ON ${tables}message (topic_id, lane, available_at) WHERE state IN ('SCHEDULED', 'RETRY');
CREATE INDEX ${prefix}message_head ON ${tables}message (topic_id, lane, seq) WHERE state IN ('RETRY', 'PARKED');
CREATE INDEX ${prefix}message_blocked ON ${tables}message (topic_id, lane, ordering_key, seq)
    WHERE state IN ('RETRY', 'BLOCKED', 'PARKED');

CREATE TABLE ${tables}archive (
    seq             bigint       NOT NULL,
    id              uuid         NOT NULL,
    topic_id        integer      NOT NULL,
    topic           varchar(100) NOT NULL,
    type            varchar(255) NOT NULL,
    tenant          varchar(255),
    ordering_key    varchar(255),
    idempotency_key varchar(255),
    content_type    varchar(100),
    payload         bytea,
    attributes      text,
    attempts        integer      NOT NULL,
    crashes         integer      NOT NULL,
    created_at      timestamptz  NOT NULL,
    delivered_at    timestamptz  NOT NULL,
    failed_attempts text,
    -- When an operator wrote the message to the queue again: that happens once.
    redelivered_at  timestamptz,
    CONSTRAINT ${prefix}archive_pk PRIMARY KEY (delivered_at, seq)
);
CREATE INDEX ${prefix}archive_id ON ${tables}archive (id);

-- The only place that decides whether an idempotency key was used: messages move, marks stay for their window.
CREATE TABLE ${tables}dedup (
    topic_id     integer     NOT NULL,
    key_hash     bytea       NOT NULL,
    message_id   uuid        NOT NULL,
    payload_hash bytea       NOT NULL,
    seen_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT ${prefix}dedup_pk PRIMARY KEY (topic_id, key_hash)
);
CREATE INDEX ${prefix}dedup_seen ON ${tables}dedup (seen_at);

CREATE TABLE ${tables}topic (
    id                   integer      GENERATED BY DEFAULT AS IDENTITY,
    namespace            varchar(100) NOT NULL,
    topic                varchar(100) NOT NULL,
    lanes                smallint     NOT NULL,
    tenant_prefixed_keys boolean      NOT NULL,
    paused               boolean      NOT NULL DEFAULT false,
    created_at           timestamptz  NOT NULL DEFAULT clock_timestamp(),
    removed_at           timestamptz,
    CONSTRAINT ${prefix}topic_pk PRIMARY KEY (id),
    CONSTRAINT ${prefix}topic_name UNIQUE (namespace, topic)
);

-- The lanes of ordered topics. Free while owner is null, and from then on, until; owned otherwise, and lost after until. Each owner
-- makes a new token, each change of an operator raises the revision, and every outcome carries both.
CREATE TABLE ${tables}lane (
    topic_id integer NOT NULL,
    lane     smallint NOT NULL,
    owner    varchar(100),
    token    uuid,
    until    timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Nothing that is still to be delivered in order has a lower number or this one.
    floor    bigint NOT NULL DEFAULT 0,
    -- How many messages the owner may have in flight, and the number of the one in isolated delivery: for the owner after a crash.
    buffer   integer NOT NULL DEFAULT 0,
    isolated bigint,
    revision integer NOT NULL DEFAULT 0,
    CONSTRAINT ${prefix}lane_pk PRIMARY KEY (topic_id, lane)
) WITH (fillfactor = 50);

-- The nodes. The topics that a node delivers are listed by their numbers, with commas between.
CREATE TABLE ${tables}node (
    instance   uuid NOT NULL,
    worker     varchar(100) NOT NULL,
    version    varchar(50) NOT NULL,
    topics     text NOT NULL,
    started_at timestamptz NOT NULL,
    until      timestamptz NOT NULL,
    CONSTRAINT ${prefix}node_pk PRIMARY KEY (instance)
) WITH (fillfactor = 50);

CREATE TABLE ${tables}audit (
    id         bigint       GENERATED BY DEFAULT AS IDENTITY,
    at         timestamptz  NOT NULL DEFAULT clock_timestamp(),
    operator   varchar(255) NOT NULL,
    action     varchar(20)  NOT NULL,
    namespace  varchar(100) NOT NULL,
    topic      varchar(100) NOT NULL,
    message_id uuid,
    -- Of a change of several messages: what selected them, and how many one transaction changed and skipped.
    filter_text text,
    changed    integer,
    skipped    integer,
    reason     varchar(1000),
    CONSTRAINT ${prefix}audit_pk PRIMARY KEY (id)
);

-- Actions by filter that nodes work off in steps. A step is made by the node with the token, until its time is over; it commits its changes
-- together with the position that it has reached and the counts. filter_json is a JSON object with the version in the member v.
CREATE TABLE ${tables}operation (
    id            bigint GENERATED BY DEFAULT AS IDENTITY,
    action        varchar(20) NOT NULL,
    filter_json   text NOT NULL,
    operator      varchar(255) NOT NULL,
    reason        varchar(1000),
    message_limit bigint,
    per_second    integer,
    state         varchar(10) NOT NULL,
    reached       varchar(100),
    changed       bigint NOT NULL DEFAULT 0,
    skipped       bigint NOT NULL DEFAULT 0,
    token         uuid NOT NULL,
    node          varchar(100),
    until         timestamptz NOT NULL,
    failures      integer NOT NULL DEFAULT 0,
    error         varchar(1000),
    created_at    timestamptz NOT NULL,
    started_at    timestamptz,
    updated_at    timestamptz NOT NULL,
    ended_at      timestamptz,
    CONSTRAINT ${prefix}operation_pk PRIMARY KEY (id)
) WITH (fillfactor = 50);
CREATE INDEX ${prefix}operation_open ON ${tables}operation (until) WHERE ended_at IS NULL;

-- The counts of the database that operators see. The node that finds due_at passed is elected by a change of its token, counts, and writes
-- the result for all nodes: one row, a JSON object.
CREATE TABLE ${tables}sample (
    only_one boolean     NOT NULL DEFAULT true CHECK (only_one),
    token    uuid,
    node     varchar(100),
    due_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    taken_at timestamptz,
    content  text,
    CONSTRAINT ${prefix}sample_pk PRIMARY KEY (only_one)
) WITH (fillfactor = 50);
INSERT INTO ${tables}sample (only_one) VALUES (true);

-- The text of a compressed payload, for the view below: no statement of the library uses it. It undoes zlib (RFC 1950 and 1951) bit by
-- bit, which takes about half a second for a payload of 100 kB. A damaged payload is shown in base64.
CREATE FUNCTION ${tables}decompressed_text(stored bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    lengths_order CONSTANT integer[] := '{16,17,18,0,8,7,9,6,10,5,11,4,12,3,13,2,14,1,15}';
    length_base   CONSTANT integer[] := '{3,4,5,6,7,8,9,10,11,13,15,17,19,23,27,31,35,43,51,59,67,83,99,115,131,163,195,227,258}';
    length_bits   CONSTANT integer[] := '{0,0,0,0,0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,4,4,4,4,5,5,5,5,0}';
    distance_base CONSTANT integer[] := '{1,2,3,4,5,7,9,13,17,25,33,49,65,97,129,193,257,385,513,769,1025,1537,2049,3073,4097,6145,8193,12289,16385,24577}';
    distance_bits CONSTANT integer[] := '{0,0,0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7,8,8,9,9,10,10,11,11,12,12,13,13}';
    deflated bytea; bits integer; at integer NOT NULL := 0; -- the stream without its header, how many bits it has and how many are read
    flipped varbit; -- the stream with its last bit first: a number in it begins with its highest bit
    output integer[] := '{}'; size integer; done integer := 0; -- the bytes of the payload, how many it has and how many are written
    codes integer[]; -- of three trees: the symbol of each code, by a one and the bits of the code
    lengths integer[]; pair integer[]; -- of the codes of one tree, by symbol; of those of the second and the third tree
    literals integer; distances integer; is_last integer; kind integer; code integer; symbol integer; n integer; extra integer;
BEGIN
    size := get_byte(stored, 0) + (get_byte(stored, 1) << 8) + (get_byte(stored, 2) << 16) + (get_byte(stored, 3) << 24);
    deflated := substring(stored FROM 7);
    bits := length(deflated) * 8;
    flipped := ('x' || (SELECT string_agg(lpad(to_hex(get_byte(deflated, i)), 2, '0'), '' ORDER BY i DESC)
                        FROM generate_series(0, length(deflated) - 1) AS i))::varbit;
    LOOP
        is_last := get_bit(deflated, at);
        kind := substring(flipped FROM bits - at - 2 FOR 2)::integer;
        at := at + 3;
        IF kind = 0 THEN -- bytes as they are, after their number and its complement
            at := (at + 7) / 8 * 8;
            n := substring(flipped FROM bits - at - 15 FOR 16)::integer;
            FOR i IN 1 .. n LOOP output[done + i] := get_byte(deflated, at / 8 + 3 + i); END LOOP;
            at := at + 32 + n * 8;
            done := done + n;
            CONTINUE WHEN is_last = 0; EXIT;
        END IF;
        codes := array_fill(NULL::integer, ARRAY[3 << 16]);
        FOR tree IN 0 .. 2 LOOP -- for the lengths of the other two; for bytes and lengths of copies; for distances of copies
            IF kind = 1 THEN
                lengths := CASE tree WHEN 0 THEN '{}' WHEN 2 THEN array_fill(5, ARRAY[30]) ELSE array_fill(8, ARRAY[144])
                    || array_fill(9, ARRAY[112]) || array_fill(7, ARRAY[24]) || array_fill(8, ARRAY[8]) END;
            ELSIF tree = 0 THEN
                literals := 257 + substring(flipped FROM bits - at - 4 FOR 5)::integer;
                distances := 1 + substring(flipped FROM bits - at - 9 FOR 5)::integer;
                n := 4 + substring(flipped FROM bits - at - 13 FOR 4)::integer;
                lengths := array_fill(0, ARRAY[19]);
                FOR i IN 1 .. n LOOP lengths[lengths_order[i] + 1] := substring(flipped FROM bits - at - 13 - i * 3 FOR 3)::integer; END LOOP;
                at := at + 14 + n * 3;
            ELSIF tree = 1 THEN
                pair := '{}';
                WHILE cardinality(pair) < literals + distances LOOP
                    code := 1; symbol := NULL;
                    WHILE symbol IS NULL LOOP
                        code := code * 2 + get_bit(deflated, at); at := at + 1; symbol := codes[code];
                    END LOOP;
                    extra := CASE symbol WHEN 16 THEN 2 WHEN 17 THEN 3 WHEN 18 THEN 7 ELSE 0 END;
                    n := substring(flipped FROM bits - at - extra + 1 FOR extra)::integer
                        + CASE WHEN symbol < 16 THEN 1 WHEN symbol = 18 THEN 11 ELSE 3 END;
                    at := at + extra;
                    pair := pair || array_fill(CASE WHEN symbol < 16 THEN symbol
                        WHEN symbol = 16 THEN pair[cardinality(pair)] ELSE 0 END, ARRAY[n]);
                END LOOP;
                lengths := pair[1 : literals];
            ELSE
                lengths := pair[literals + 1 : literals + distances];
            END IF;
            code := 0;
            FOR size_of_code IN 1 .. 15 LOOP
                code := code * 2;
                FOR i IN 1 .. cardinality(lengths) LOOP
                    CONTINUE WHEN lengths[i] <> size_of_code;
                    codes[(tree << 16) + (1 << size_of_code) + code] := i - 1; code := code + 1;
                END LOOP;
                IF code > 1 << size_of_code THEN RAISE EXCEPTION 'more codes than bits'; END IF;
            END LOOP;
        END LOOP;
        WHILE done <= size LOOP
            code := 1; symbol := NULL;
            WHILE symbol IS NULL LOOP
                code := code * 2 + get_bit(deflated, at); at := at + 1; symbol := codes[(1 << 16) + code];
            END LOOP;
            EXIT WHEN symbol = 256;
            IF symbol < 256 THEN
                done := done + 1; output[done] := symbol;
                CONTINUE;
            END IF;
            extra := length_bits[symbol - 256];
            n := length_base[symbol - 256] + substring(flipped FROM bits - at - extra + 1 FOR extra)::integer;
            at := at + extra;
            code := 1; symbol := NULL;
            WHILE symbol IS NULL LOOP
                code := code * 2 + get_bit(deflated, at); at := at + 1; symbol := codes[(2 << 16) + code];
            END LOOP;
            extra := distance_bits[symbol + 1];
            code := distance_base[symbol + 1] + substring(flipped FROM bits - at - extra + 1 FOR extra)::integer;
            at := at + extra;
            FOR i IN done + 1 .. done + n LOOP output[i] := output[i - code]; END LOOP; -- a copy of n bytes, from this distance
            done := done + n;
        END LOOP;
        EXIT WHEN is_last = 1;
    END LOOP;
    IF done <> size OR array_position(output, NULL) IS NOT NULL THEN RAISE EXCEPTION 'another size, or a copy of nothing'; END IF;
    RETURN (SELECT encode(string_agg(set_byte('\x00', 0, byte), '' ORDER BY i), 'escape') FROM unnest(output) WITH ORDINALITY AS o (byte, i));
EXCEPTION WHEN OTHERS THEN
    RETURN 'damaged zlib, in base64: ' || encode(stored, 'base64');
END
$$;

-- For people at a console: payloads as text, bytes that are none as escapes, compressed ones too. Encrypted ones are not shown.
CREATE VIEW ${tables}message_text AS
SELECT m.seq, m.id, t.namespace, m.topic, m.type, m.tenant, m.ordering_key, m.idempotency_key, m.lane, m.state, m.attempts,
       m.crashes, m.available_at, m.locked_by, m.locked_until, m.reason, m.last_error, m.created_at, m.updated_at,
       m.failed_attempts, COALESCE(m.content_type, 'application/json') AS content_type, m.attributes,
       CASE WHEN m.attributes LIKE '{"compression":"zlib"%' THEN ${tables}decompressed_text(m.payload)
            WHEN m.attributes LIKE '{"encryption":%' THEN 'encrypted, ' || octet_length(m.payload) || ' bytes'
            ELSE encode(m.payload, 'escape') END AS payload
FROM ${tables}message m LEFT JOIN ${tables}topic t ON t.id = m.topic_id;

-- The last statement: without it the file is applied again.
INSERT INTO ${tables}schema (version, min_compatible) VALUES (1, 1);
