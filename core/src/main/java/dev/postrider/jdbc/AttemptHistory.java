package dev.postrider.jdbc;

import dev.postrider.admin.FailedAttempt;
import dev.postrider.internal.ErrorText;
import dev.postrider.internal.Json;
import dev.postrider.store.Claim;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The history of the failed attempts of a message, in the column {@code failed_attempts}: a line for each, the newest first. The statement
 * that writes the error puts the time of the database and the entry of the attempt before the older lines, and cuts the text to its limit.
 * So a failure needs no further statement, and a message that never failed has no history.
 *
 * <p>A line has the time, the number of the attempt, the node and a JSON object with the members {@code error}, {@code fingerprint} and
 * {@code tookMs}, with blanks between. Stateless, thread-safe.
 */
final class AttemptHistory {

    private static final Logger log = LoggerFactory.getLogger(AttemptHistory.class);

    /** The entry of an attempt that ended with the loss of its node. The statement puts the number and the node before it. */
    static final String NODE_LOST = tail("The node was lost, or held up until its lease had ended", "NODE_LOST", null);

    private static final int ERROR_LIMIT = 300;
    private static final int NODE_LIMIT = 100;

    /** The line that the limit has cut has no end. */
    private static final Pattern LINE = Pattern.compile("(\\S+) (\\d{1,9}) (.*?) ?(\\{.*})\n");

    private AttemptHistory() {}

    /** Returns the entry of a failed attempt, without its time. */
    static String entry(Claim claim, @Nullable Duration took, String error, String fingerprint) {
        return entry(claim.attempt(), claim.lease().holder(), tail(error, fingerprint, took));
    }

    /** Returns the entry of a row that makes no message, or that has no attempts left. It was claimed and not delivered. */
    static String undelivered(int attempt, String node, DeathRecord death) {
        return entry(attempt, node, tail(death.error(), death.fingerprint(), null));
    }

    private static String entry(int attempt, String node, String tail) {
        return " " + attempt + " " + ErrorText.clean(node, NODE_LIMIT) + tail;
    }

    private static String tail(String error, String fingerprint, @Nullable Duration took) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("error", ErrorText.clean(error, ERROR_LIMIT));
        members.put("fingerprint", fingerprint);
        if (took != null) {
            members.put("tookMs", Math.max(0, took.toMillis()));
        }
        return " " + Json.writeTree(members) + "\n";
    }

    /** Reads the column. A line that is not readable, and the one that the limit has cut, are left out. */
    static List<FailedAttempt> read(@Nullable String column) {
        List<FailedAttempt> attempts = new ArrayList<>();
        Matcher line = LINE.matcher(column == null ? "" : column);
        while (line.find()) {
            try {
                attempts.add(attempt(line));
            } catch (IllegalArgumentException | DateTimeException e) {
                log.debug("A line of the history of a message is not readable", e);
            }
        }
        return attempts;
    }

    private static FailedAttempt attempt(Matcher line) {
        Map<String, Object> members = Json.readTree(line.group(4));
        String node = line.group(3);
        return new FailedAttempt(
                Integer.parseInt(line.group(2)),
                Instant.parse(line.group(1)),
                node.isEmpty() ? null : node,
                members.get("tookMs") instanceof Long millis ? Duration.ofMillis(millis) : null,
                String.valueOf(members.get("error")),
                String.valueOf(members.get("fingerprint")));
    }
}
