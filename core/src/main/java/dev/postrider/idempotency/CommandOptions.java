package dev.postrider.idempotency;

import dev.postrider.error.InvalidConfigurationException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** How a node deals with commands. Immutable; each change is a copy. */
public final class CommandOptions {

    /** The largest result that may be kept in a row at all. */
    static final int HARD_CAP = 1 << 20;

    private static final int SHORTEST_SECRET = 16;
    private static final int FIRST_SECRET = 2;

    private final @Nullable ResultCipher cipher;
    private final int maxResultBytes;
    private final long cacheBytes;
    private final int waitersPerKey;
    private final int waitersPerNode;
    private final Map<Integer, byte[]> secrets;
    private final boolean clearText;

    private CommandOptions(
            @Nullable ResultCipher cipher,
            boolean clearText,
            int maxResultBytes,
            long cacheBytes,
            int waitersPerKey,
            int waitersPerNode,
            Map<Integer, byte[]> secrets) {
        this.cipher = cipher;
        this.clearText = clearText;
        this.maxResultBytes = within("command.max-result-bytes", maxResultBytes, HARD_CAP);
        this.cacheBytes = cacheBytes;
        this.waitersPerKey = within("command.waiters-per-key", waitersPerKey, Integer.MAX_VALUE);
        this.waitersPerNode = within("command.waiters-per-node", waitersPerNode, Integer.MAX_VALUE);
        this.secrets = secrets;
        if (cacheBytes < 0) {
            throw new InvalidConfigurationException("command.cache-bytes", "must not be negative; 0 is no cache");
        }
    }

    private static int within(String property, int value, int most) {
        if (value < 0 || value > most) {
            throw new InvalidConfigurationException(property, "must be 0 to " + most + ", but is " + value);
        }
        return value;
    }

    /** Results up to 64 KiB, 8 MiB of them cached for a minute, 100 waiting for one key and 500 in all; no cipher and no secret. */
    public static CommandOptions defaults() {
        return new CommandOptions(null, false, 64 * 1024, 8L << 20, 100, 500, Map.of());
    }

    /**
     * Results, the results of steps and the reasons of rejections are encrypted in the database. What is found there in clear text is
     * refused, since anybody who can write into the table could have put it there; see {@link #acceptingClearText()}. Errors of
     * commands that failed stay readable for operators. A reason has at most 400 characters then.
     */
    public CommandOptions withCipher(ResultCipher cipher) {
        return new CommandOptions(
                cipher, clearText, maxResultBytes, cacheBytes, waitersPerKey, waitersPerNode, secrets);
    }

    /**
     * Also reads what was written without the cipher: for the time after a cipher is configured, until the commands from before are
     * forgotten.
     */
    public CommandOptions acceptingClearText() {
        return new CommandOptions(cipher, true, maxResultBytes, cacheBytes, waitersPerKey, waitersPerNode, secrets);
    }

    /** The largest result that is kept, after it was compressed: up to 1 MiB. */
    public CommandOptions withMaxResultBytes(int maxResultBytes) {
        return new CommandOptions(
                cipher, clearText, maxResultBytes, cacheBytes, waitersPerKey, waitersPerNode, secrets);
    }

    /** How much memory results may take that are asked for again soon; 0 for none. */
    public CommandOptions withCacheBytes(long cacheBytes) {
        return new CommandOptions(
                cipher, clearText, maxResultBytes, cacheBytes, waitersPerKey, waitersPerNode, secrets);
    }

    /** How many threads may wait for a result that is being made, for each key and on this node; more are told that it is in progress. */
    public CommandOptions withWaiters(int perKey, int perNode) {
        return new CommandOptions(cipher, clearText, maxResultBytes, cacheBytes, perKey, perNode, secrets);
    }

    /**
     * Fingerprints are made with a secret, so that nobody who reads the table can find out a short request by guessing. The highest
     * number is used for new ones; keep the others until the commands they were used for are forgotten.
     *
     * @param number 2 or more, stored with each fingerprint
     */
    public CommandOptions withSecret(int number, byte[] secret) {
        if (number < FIRST_SECRET || number > Short.MAX_VALUE) {
            throw new InvalidConfigurationException(
                    "command.secret",
                    "must be numbered " + FIRST_SECRET + " to " + Short.MAX_VALUE + ", not " + number);
        }
        if (secret.length < SHORTEST_SECRET) {
            throw new InvalidConfigurationException(
                    "command.secret", "number " + number + " must have at least " + SHORTEST_SECRET + " bytes");
        }
        Map<Integer, byte[]> more = new TreeMap<>(secrets);
        more.put(number, secret.clone());
        return new CommandOptions(cipher, clearText, maxResultBytes, cacheBytes, waitersPerKey, waitersPerNode, more);
    }

    @Nullable
    ResultCipher cipher() {
        return cipher;
    }

    boolean acceptsClearText() {
        return clearText;
    }

    int maxResultBytes() {
        return maxResultBytes;
    }

    long cacheBytes() {
        return cacheBytes;
    }

    int waitersPerKey() {
        return waitersPerKey;
    }

    int waitersPerNode() {
        return waitersPerNode;
    }

    Fingerprints fingerprints() {
        return new Fingerprints(secrets);
    }

    /** Without the secrets. */
    @Override
    public String toString() {
        return "CommandOptions[maxResultBytes=" + maxResultBytes + ", cacheBytes=" + cacheBytes + ", waitersPerKey="
                + waitersPerKey + ", waitersPerNode=" + waitersPerNode + "]";
    }
}
