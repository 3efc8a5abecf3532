package dev.postrider.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A short count of the evidence, for the report: committed messages, received messages, and order per key. The verdict is the
 * checker's.
 *
 * @param committed messages for the receiver that were not rolled back to a savepoint, of committed transactions
 * @param repeated messages of these whose idempotency key another one has, so that at most one of them is delivered
 * @param received different messages that were received
 * @param dead messages that are dead letters or were discarded, and were never received
 * @param missing messages that should have been received and were not
 * @param phantoms messages that were received and were never committed
 * @param disorders first deliveries of a key that came after one with a higher number
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

    /**
     * @param transactions the transactions whose row exists
     * @param dead the ids of the dead letters
     */
    static Sums of(Path directory, Set<String> transactions, Set<String> dead) {
        return new Reading(directory, transactions, dead).sums();
    }

    /** Reads the evidence of a run. */
    private static final class Reading {

        private final Path directory;
        private final Set<String> transactions;
        private final Set<String> lying;

        /** The committed messages, with topic, tenant and idempotency key as one text; empty without an idempotency key. */
        private final Map<String, String> intents = new HashMap<>();

        private final Set<String> keys = new HashSet<>();
        private final Set<String> received = new HashSet<>();
        private final Set<String> beyondOrder = new HashSet<>();
        private final Set<String> discarded = new HashSet<>();
        private final Map<String, Long> last = new HashMap<>();
        private final List<String> disorders = new ArrayList<>();
        private long repeated;

        Reading(Path directory, Set<String> transactions, Set<String> lying) {
            this.directory = directory;
            this.transactions = transactions;
            this.lying = lying;
        }

        Sums sums() {
            read("producer-", this::produced);
            read("operator", this::operated);
            read("receiver", this::receive);
            Set<String> known = new HashSet<>();
            intents.forEach((id, unique) -> {
                if (received.contains(id) || isDead(id)) {
                    known.add(unique);
                }
            });
            List<String> missing = new ArrayList<>();
            intents.forEach((id, unique) -> {
                boolean isRepeated = !unique.isEmpty() && known.contains(unique);
                if (!received.contains(id) && !isDead(id) && !isRepeated) {
                    missing.add(id);
                }
            });
            long dead = intents.keySet().stream()
                    .filter(id -> !received.contains(id) && isDead(id))
                    .count();
            List<String> phantoms =
                    received.stream().filter(id -> !intents.containsKey(id)).toList();
            return new Sums(intents.size(), repeated, received.size(), dead, missing, phantoms, disorders);
        }

        private void produced(JournalLine line) {
            if (!line.event().equals("intended")
                    || !line.value("kept").equals("true")
                    || Business.isHandled(line.value("topic"))
                    || !transactions.contains(line.value("tx"))) {
                return;
            }
            String dedup = line.value("dedup");
            String scope = dedup.isEmpty() ? "" : line.value("topic") + "/" + line.value("tenant") + "/" + dedup;
            intents.put(line.value("id"), scope);
            if (!scope.isEmpty() && !keys.add(scope)) {
                repeated++;
            }
            if (!line.value("deliverAt").isEmpty()) {
                beyondOrder.add(line.value("id"));
            }
        }

        private boolean isDead(String id) {
            return lying.contains(id) || discarded.contains(id);
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
    }
}
