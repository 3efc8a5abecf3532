package dev.postrider.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A quick look at the evidence, for the report: how much was committed, what of it arrived, and whether keys kept their order. It is
 * no judgement; that is the checker's.
 *
 * @param committed messages that were kept, of transactions that left their row
 * @param repeated of these, such whose idempotency key another one has, so that one of them at most is delivered
 * @param received different messages that came in
 * @param dead that lie in the outbox or were discarded, and never came in
 * @param missing that should have come in and did not
 * @param phantoms that came in and were never committed
 * @param disorders first deliveries of a key that came before those of a lower number
 */
record Sums(
        long committed,
        long repeated,
        long received,
        long dead,
        List<String> missing,
        List<String> phantoms,
        List<String> disorders) {

    boolean isSound() {
        return committed > 0 && missing.isEmpty() && phantoms.isEmpty() && disorders.isEmpty();
    }

    /** A message that was meant to be written. */
    private record Intent(String tx, String dedup) {}

    static Sums of(Path directory, Connection connection) throws SQLException {
        return new Reading(directory, connection).sums();
    }

    /** Reads the evidence of a run. */
    private static final class Reading {

        private final Path directory;
        private final Set<String> transactions;
        private final Set<String> lying;
        private final Map<String, Intent> intents = new HashMap<>();
        private final Set<String> keys = new HashSet<>();
        private final Set<String> received = new HashSet<>();
        private final Set<String> beyondOrder = new HashSet<>();
        private final Set<String> discarded = new HashSet<>();
        private final Map<String, Long> last = new HashMap<>();
        private final List<String> disorders = new ArrayList<>();
        private long repeated;

        Reading(Path directory, Connection connection) throws SQLException {
            this.directory = directory;
            this.transactions = texts(connection, "SELECT tx FROM torture_transaction");
            this.lying = texts(connection, isPostgres(connection) ? DEAD_POSTGRES : DEAD_OTHERS);
        }

        private static final String DEAD_POSTGRES = "SELECT id::text FROM postrider_message WHERE state = 'DEAD'";
        private static final String DEAD_OTHERS =
                "SELECT INSERT(INSERT(INSERT(INSERT(LOWER(HEX(id)), 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')"
                        + " FROM postrider_message WHERE state = 'DEAD'";

        private static boolean isPostgres(Connection connection) throws SQLException {
            return connection.getMetaData().getURL().startsWith("jdbc:postgresql:");
        }

        Sums sums() {
            read("producer-", this::produced);
            read("operator", this::operated);
            read("receiver", this::receive);
            List<String> missing = new ArrayList<>();
            long dead = 0;
            for (Map.Entry<String, Intent> intent : intents.entrySet()) {
                if (received.contains(intent.getKey())) {
                    continue;
                }
                if (lying.contains(intent.getKey()) || discarded.contains(intent.getKey())) {
                    dead++;
                } else if (!isRepeated(intent.getValue())) {
                    missing.add(intent.getKey());
                }
            }
            List<String> phantoms =
                    received.stream().filter(id -> !intents.containsKey(id)).toList();
            return new Sums(intents.size(), repeated, received.size(), dead, missing, phantoms, disorders);
        }

        private void produced(JournalLine line) {
            if (!line.event().equals("intended")
                    || !line.value("kept").equals("true")
                    || !transactions.contains(line.value("tx"))) {
                return;
            }
            String dedup = line.value("dedup");
            String scope = dedup.isEmpty() ? "" : line.value("topic") + "/" + line.value("tenant") + "/" + dedup;
            intents.put(line.value("id"), new Intent(line.value("tx"), scope));
            if (!scope.isEmpty() && !keys.add(scope)) {
                repeated++;
            }
            if (!line.value("deliverAt").isEmpty()) {
                beyondOrder.add(line.value("id"));
            }
        }

        /** Whether another message with its idempotency key came in, or lies in the outbox. */
        private boolean isRepeated(Intent intent) {
            return !intent.dedup().isEmpty() && delivered().contains(intent.dedup());
        }

        private Set<String> scopes = Set.of();

        private Set<String> delivered() {
            if (scopes.isEmpty()) {
                scopes = new HashSet<>();
                intents.forEach((id, intent) -> {
                    if (received.contains(id) || lying.contains(id) || discarded.contains(id)) {
                        scopes.add(intent.dedup());
                    }
                });
            }
            return scopes;
        }

        private void operated(JournalLine line) {
            if (line.value("action").equals("discard")) {
                discarded.add(line.value("id"));
            }
            beyondOrder.add(line.value("id"));
        }

        private void receive(JournalLine line) {
            if (!line.event().equals("received") || !received.add(line.value("id"))) {
                return;
            }
            if (line.value("number").isEmpty() || beyondOrder.contains(line.value("id"))) {
                return;
            }
            String key = line.value("topic") + "/" + line.value("tenant") + "/" + line.value("key");
            long number = Long.parseLong(line.value("number"));
            Long before = last.merge(key, number, Math::max);
            if (before != number) {
                disorders.add(key + ": " + number + " (" + line.value("id") + ") came after " + before);
            }
        }

        private void read(String prefix, Consumer<JournalLine> each) {
            try (Stream<Path> files = Files.list(directory)) {
                for (Path file : files.filter(
                                path -> String.valueOf(path.getFileName()).startsWith(prefix)
                                        && path.toString().endsWith(".journal"))
                        .sorted()
                        .toList()) {
                    try (JournalReader reader = new JournalReader(file)) {
                        reader.more(line -> each.accept(JournalLine.parse(line)));
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static Set<String> texts(Connection connection, String sql) throws SQLException {
            Set<String> texts = new HashSet<>();
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery(sql)) {
                while (rows.next()) {
                    texts.add(rows.getString(1));
                }
            }
            return texts;
        }
    }
}
