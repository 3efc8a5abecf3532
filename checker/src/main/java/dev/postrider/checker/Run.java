package dev.postrider.checker;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Set;

/**
 * What {@code run.properties} says. Times are microseconds.
 *
 * @param deadRetention how long dead letters are kept, zero for ever
 * @param inFlight how many messages one worker has in its hands at most
 * @param faultsEnded from when on nothing was broken on purpose, or {@code Long.MAX_VALUE}
 */
record Run(
        Properties properties,
        String engine,
        long lease,
        long deadRetention,
        int maxAttempts,
        int inFlight,
        int workers,
        long started,
        long faultsEnded,
        long ended) {

    static final String FILE = "run.properties";

    static Run read(Path directory) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(directory.resolve(FILE))) {
            properties.load(reader);
        } catch (IOException e) {
            throw new UnreadableEvidenceException("Cannot read " + directory.resolve(FILE), e);
        }
        return new Run(
                properties,
                properties.getProperty("engine", ""),
                1000 * number(properties, "leaseMillis"),
                properties.containsKey("deadRetentionMillis") ? 1000 * number(properties, "deadRetentionMillis") : 0,
                (int) number(properties, "maxAttempts"),
                (int) number(properties, "inFlight"),
                (int) number(properties, "workers"),
                number(properties, "started"),
                properties.getProperty("faultsEnded", "").isEmpty()
                        ? Long.MAX_VALUE
                        : number(properties, "faultsEnded"),
                properties.getProperty("ended", "").isEmpty() ? Long.MAX_VALUE : number(properties, "ended"));
    }

    private static long number(Properties properties, String name) {
        String text = properties.getProperty(name, "").trim();
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new UnreadableEvidenceException(FILE + " has no number for " + name + ", but '" + text + "'", e);
        }
    }

    /** Topics whose handlers and destinations misbehave on purpose; none unless the run says so. */
    Set<String> troubled() {
        String names = properties.getProperty("troubled", "");
        return names.isEmpty() ? Set.of() : Set.of(names.split(","));
    }

    int maxAttempts(String topic) {
        return properties.containsKey("maxAttempts." + topic)
                ? (int) number(properties, "maxAttempts." + topic)
                : maxAttempts;
    }

    /** Whether what is behind a failed message of the topic waits for it; it does unless the run says otherwise. */
    boolean blocks(String topic) {
        return !policy(topic).equals("SKIP");
    }

    /** Whether what is behind a message that was rejected comes without waiting for an operator; it does only if the run says so. */
    boolean goesOn(String topic) {
        return policy(topic).equals("GO_ON");
    }

    private String policy(String topic) {
        return properties.getProperty("policy." + topic, "BLOCK");
    }
}
