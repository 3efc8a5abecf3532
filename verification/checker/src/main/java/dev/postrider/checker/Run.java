package dev.postrider.checker;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Set;

/**
 * The content of {@code run.properties}. Times are microseconds.
 *
 * @param deadRetention the retention of dead letters; zero for unlimited
 * @param inFlight the maximum of messages in flight on one worker
 * @param faultsEnded the end of the last fault, or {@code Long.MAX_VALUE}
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

    /** Topics whose handlers and destinations misbehave on purpose; none by default. */
    Set<String> troubled() {
        String names = properties.getProperty("troubled", "");
        return names.isEmpty() ? Set.of() : Set.of(names.split(","));
    }

    int maxAttempts(String topic) {
        return properties.containsKey("maxAttempts." + topic)
                ? (int) number(properties, "maxAttempts." + topic)
                : maxAttempts;
    }

    /** Whether the later messages of a key wait for a failed one; true by default. */
    boolean blocks(String topic) {
        return !policy(topic).equals("CONTINUE");
    }

    /** Whether the later messages of a key continue past a rejected one without an operator; false by default. */
    boolean goesOn(String topic) {
        return policy(topic).equals("GO_ON");
    }

    private String policy(String topic) {
        return properties.getProperty("policy." + topic, "BLOCK");
    }
}
