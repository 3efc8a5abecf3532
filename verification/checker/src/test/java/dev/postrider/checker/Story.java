package dev.postrider.checker;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A run that never was, told event by event: journals in a directory and tables in memory. Messages have names; time goes on by a
 * millisecond with every event, from a fixed beginning. The lease is five seconds.
 */
final class Story implements AutoCloseable {

    static final long BEGINNING = 1_800_000_000_000_000L;
    static final long SECOND = 1_000_000;
    static final String HASH = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    private static final String TABLES = """
            CREATE TABLE torture_transaction (tx CHAR(36) PRIMARY KEY);
            CREATE TABLE torture_counter (name VARCHAR(100) PRIMARY KEY, n BIGINT);
            CREATE TABLE torture_effect (consumer VARCHAR(100), message_id CHAR(36), amount BIGINT);
            CREATE TABLE torture_command_effect (tenant VARCHAR(50), caller VARCHAR(50), operation VARCHAR(50),
                command_key VARCHAR(100), call_id CHAR(36));
            CREATE TABLE torture_transition (at_micros BIGINT, seq BIGINT AUTO_INCREMENT, message_id CHAR(36),
                kind VARCHAR(10), from_state VARCHAR(20), to_state VARCHAR(20), token VARCHAR(40), lease_end BIGINT);
            CREATE TABLE torture_command_transition (at_micros BIGINT, seq BIGINT AUTO_INCREMENT, command_id VARCHAR(64),
                from_state VARCHAR(20), to_state VARCHAR(20), owner VARCHAR(40), fence BIGINT, lease_end BIGINT,
                key_end BIGINT, uncertain INTEGER);
            CREATE TABLE postrider_message (seq BIGINT AUTO_INCREMENT, id UUID, topic VARCHAR(100), tenant VARCHAR(255),
                ordering_key VARCHAR(255), state VARCHAR(10), attempts INT, reason VARCHAR(20),
                attributes VARCHAR(10000));
            CREATE TABLE postrider_archive (id BINARY(16));
            CREATE TABLE postrider_inbox_mark (message_id UUID, consumer VARCHAR(100));
            CREATE TABLE postrider_command (operation VARCHAR(100), tenant VARCHAR(255), state VARCHAR(11),
                lease_until TIMESTAMP(6) WITH TIME ZONE);
            CREATE TABLE postrider_lane (owner VARCHAR(100));
            """;

    private final Path directory;
    private final String url = "jdbc:h2:mem:" + UUID.randomUUID();
    private final Connection connection;
    private final Set<String> ordered = new HashSet<>();
    private long now = BEGINNING;

    Story(Path directory) {
        this.directory = directory;
        properties(
                "leaseMillis=5000",
                "pollMillis=100",
                "maxAttempts=3",
                "inFlight=2",
                "workers=2",
                "engine=h2",
                "started=" + BEGINNING,
                "faultsEnded=" + (BEGINNING + 100 * SECOND),
                "ended=" + (BEGINNING + 200 * SECOND));
        try {
            connection = DriverManager.getConnection(url, "", "");
            for (String statement : TABLES.split(";\n")) {
                sql(statement);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    Story properties(String... lines) {
        try {
            Files.write(
                    directory.resolve(Run.FILE), List.of(lines), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return this;
    }

    Verdict judge(Invariant invariant) {
        return invariant.judge(evidence());
    }

    Evidence evidence() {
        History history = Journals.read(directory);
        return new Evidence(Run.read(directory), history, TableReader.read(url, "", "", history));
    }

    Verdict judgeJournals(Invariant invariant) {
        return invariant.judge(new Evidence(Run.read(directory), Journals.read(directory), null));
    }

    record Answer(int status, String text) {}

    Answer check() {
        return run(directory.toString(), url, "", "");
    }

    static Answer run(String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int status = Checker.run(List.of(arguments), new PrintStream(out, true, UTF_8));
        return new Answer(status, out.toString(UTF_8));
    }

    static UUID id(String name) {
        return UUID.nameUUIDFromBytes(name.getBytes(UTF_8));
    }

    long now() {
        return now;
    }

    Story pass(long micros) {
        now += micros;
        return this;
    }

    // Producers

    /** In a transaction of its own that committed, on an unordered topic. */
    Story written(String... names) {
        for (String name : names) {
            intended(name, name, "plain", "", 0, "", 0, true).committed(name);
        }
        return this;
    }

    /** The messages of one key, with numbers from one. */
    Story inOrder(String key, String... names) {
        for (int place = 0; place < names.length; place++) {
            intended(names[place], names[place], "ordered", key, place + 1, "", 0, true)
                    .committed(names[place]);
        }
        return this;
    }

    Story keyed(String name, String dedup) {
        return intended(name, name, "plain", "", 0, dedup, 0, true).committed(name);
    }

    Story scheduled(String name, long deliverAt) {
        return intended(name, name, "plain", "", 0, "", deliverAt, true).committed(name);
    }

    Story intended(
            String transaction,
            String name,
            String topic,
            String key,
            int number,
            String dedup,
            long deliverAt,
            boolean kept) {
        if (topic.equals("ordered")) {
            ordered.add(name);
        }
        return line(
                "producer-1",
                "intended",
                "tx=" + id(transaction),
                "id=" + id(name),
                "topic=" + topic,
                "ordered=" + topic.equals("ordered"),
                "tenant=t",
                "key=" + key,
                "number=" + (number == 0 ? "" : number),
                "hash=" + HASH,
                "dedup=" + dedup,
                "deliverAt=" + (deliverAt == 0 ? "" : deliverAt),
                "kept=" + kept);
    }

    /** The producer was told so, and it is so. */
    Story committed(String transaction) {
        return line("producer-1", "committed", "tx=" + id(transaction)).present(transaction);
    }

    /** What the transaction left in the database. */
    Story present(String transaction) {
        return sql("INSERT INTO torture_transaction VALUES (?)", id(transaction).toString());
    }

    Story line(String file, String event, String... values) {
        now += 1000;
        StringBuilder line = new StringBuilder(now + "\t" + event);
        for (String value : values) {
            int equals = value.indexOf('=') + 1;
            line.append('\t').append(value, 0, equals).append(URLEncoder.encode(value.substring(equals), UTF_8));
        }
        return text(file, line.append('\n').toString());
    }

    /** As it is, also half a line. */
    Story text(String file, String text) {
        try {
            Files.writeString(
                    directory.resolve(file + ".journal"), text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return this;
    }

    // Workers

    Story started(String worker) {
        return line("worker-" + worker, "started", "name=" + worker, "pid=17");
    }

    Story sending(String worker, String name, String token) {
        return line("worker-" + worker, "sending", "id=" + id(name), "attempt=1", "token=" + id(token));
    }

    Story acknowledged(String worker, String name) {
        return line("worker-" + worker, "acknowledged", "id=" + id(name));
    }

    Story lost(String worker, String name) {
        return line("worker-" + worker, "lost", "id=" + id(name));
    }

    Story failed(String worker, String name, int attempt, long delay) {
        return line("worker-" + worker, "failed", "id=" + id(name), "attempt=" + attempt, "delayMicros=" + delay);
    }

    Story buried(String worker, String name, String reason, int attempt) {
        return line("worker-" + worker, "buried", "id=" + id(name), "reason=" + reason, "attempt=" + attempt);
    }

    // The receiver

    Story received(String worker, String name, int attempt) {
        return received(worker, name, "plain", "", "", attempt);
    }

    Story received(String worker, String name, String topic, String key, String number, int attempt) {
        return line(
                "receiver",
                "received",
                "id=" + id(name),
                "topic=" + topic,
                "tenant=t",
                "key=" + key,
                "number=" + number,
                "hash=" + HASH,
                "worker=" + worker,
                "attempt=" + attempt);
    }

    Story answered(String worker, String name, String result) {
        return line("receiver", "answered", "id=" + id(name), "worker=" + worker, "result=" + result);
    }

    /** Sent once and taken. */
    Story taken(String worker, String... names) {
        for (String name : names) {
            received(worker, name, 1).answered(worker, name, "ok");
        }
        return this;
    }

    /** The same, of the key {@code k}, whose numbers the names end with. */
    Story takenInOrder(String worker, String... names) {
        for (String name : names) {
            comes(worker, name, "ok");
        }
        return this;
    }

    Story comes(String worker, String name, String result) {
        return received(worker, name, "ordered", "k", name.substring(name.length() - 1), 1)
                .answered(worker, name, result);
    }

    // The others

    Story fault(String kind, String target, long from, long to) {
        return line("nemesis", "fault", "kind=" + kind, "target=" + target, "fromMicros=" + from, "toMicros=" + to);
    }

    Story did(String action, String name) {
        return line("operator", "did", "action=" + action, "id=" + id(name), "topic=plain");
    }

    Story handled(String consumer, String name) {
        return line("consumer-1", "handled", "consumer=" + consumer, "id=" + id(name), "mode=inline");
    }

    Story asked(String call, String key, String mode, String fingerprint) {
        return line(
                "caller-1",
                "asked",
                "tenant=t",
                "caller=c",
                "operation=pay",
                "key=" + key,
                "fingerprint=" + fingerprint,
                "mode=" + mode,
                "call=" + id(call));
    }

    Story told(String call, String status, String result) {
        return line("caller-1", "told", "call=" + id(call), "status=" + status, "result=" + result);
    }

    // Tables

    Story row(String name, String topic, String key, String state, int attempts, @Nullable String reason) {
        return sql(
                "INSERT INTO postrider_message (id, topic, tenant, ordering_key, state, attempts, reason) VALUES (?, ?, 't', ?, ?, ?, ?)",
                id(name),
                topic,
                key,
                state,
                attempts,
                reason);
    }

    Story archived(String name) {
        return sql("INSERT INTO postrider_archive VALUES (?)", bytes(id(name)));
    }

    Story effect(String consumer, String name) {
        return sql("INSERT INTO torture_effect VALUES (?, ?, 5)", consumer, id(name).toString());
    }

    Story marked(String consumer, String name) {
        return sql("INSERT INTO postrider_inbox_mark VALUES (?, ?)", id(name), consumer);
    }

    Story commandEffect(String key, String call) {
        return sql("INSERT INTO torture_command_effect VALUES ('t', 'c', 'pay', ?, ?)", key, id(call).toString());
    }

    Story changed(String name, @Nullable String from, @Nullable String to, @Nullable String token) {
        return changed(name, from, to, token, 0);
    }

    /** @param leaseEnd when the lease that it had before was to end */
    Story changed(String name, @Nullable String from, @Nullable String to, @Nullable String token, long leaseEnd) {
        return sql(
                "INSERT INTO torture_transition (at_micros, message_id, kind, from_state, to_state, token, lease_end)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?)",
                now,
                id(name).toString(),
                ordered.contains(name) ? "laned" : "leased",
                from,
                to,
                token == null ? null : id(token).toString(),
                leaseEnd);
    }

    Story commandChanged(String key, @Nullable String from, @Nullable String to, String owner, long fence) {
        return commandChanged(key, from, to, owner, fence, 0, 0, false);
    }

    /** @param leaseEnd as it was before; {@code keyEnd} and {@code uncertain} too */
    Story commandChanged(
            String key,
            @Nullable String from,
            @Nullable String to,
            String owner,
            long fence,
            long leaseEnd,
            long keyEnd,
            boolean uncertain) {
        return sql(
                "INSERT INTO torture_command_transition (at_micros, command_id, from_state, to_state, owner, fence, lease_end,"
                        + " key_end, uncertain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                now,
                key,
                from,
                to,
                id(owner).toString(),
                fence,
                leaseEnd,
                keyEnd,
                uncertain ? 1 : 0);
    }

    Story sql(String statement, @Nullable Object... values) {
        try (PreparedStatement prepared = connection.prepareStatement(statement)) {
            for (int place = 0; place < values.length; place++) {
                prepared.setObject(place + 1, values[place]);
            }
            prepared.execute();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return this;
    }

    private static byte[] bytes(UUID id) {
        return ByteBuffer.allocate(16)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
