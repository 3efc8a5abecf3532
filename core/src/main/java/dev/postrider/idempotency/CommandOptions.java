package dev.postrider.idempotency;

import dev.postrider.error.InvalidConfigurationException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The options of a node for all commands. Immutable; each change returns a copy. */
public final class CommandOptions {

    /** The upper limit for {@link #withMaxResultBytes}, and for the results of all steps of one command. */
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

    /**
     * Results up to 64 KiB; a cache of 8 MiB that keeps results for a minute; 100 waiting threads per key and 500 per
     * node; no cipher and no secret.
     */
    public static CommandOptions defaults() {
        return new CommandOptions(null, false, 64 * 1024, 8L << 20, 100, 500, Map.of());
    }

    /**
     * Encrypts results, results of steps and reasons of rejections in the database. Values that are stored in clear
     * text are then refused, because any user with write access to the table could have written them; see {@link
     * #acceptingClearText()}. Errors of failed commands stay readable for operators. With a cipher a reason has at most
     * 400 characters.
     */
    public CommandOptions withCipher(ResultCipher cipher) {
        return new CommandOptions(
                cipher, clearText, maxResultBytes, cacheBytes, waitersPerKey, waitersPerNode, secrets);
    }

    /**
     * Also accepts values that were stored without the cipher. Use it after a cipher is introduced, until the earlier
     * commands are purged.
     */
    public CommandOptions acceptingClearText() {
        return new CommandOptions(cipher, true, maxResultBytes, cacheBytes, waitersPerKey, waitersPerNode, secrets);
    }

    /** Sets the size limit of a stored result after compression and encryption: up to 1 MiB. */
    public CommandOptions withMaxResultBytes(int maxResultBytes) {
        return new CommandOptions(
                cipher, clearText, maxResultBytes, cacheBytes, waitersPerKey, waitersPerNode, secrets);
    }

    /** Sets the memory for cached results; 0 for no cache. */
    public CommandOptions withCacheBytes(long cacheBytes) {
        return new CommandOptions(
                cipher, clearText, maxResultBytes, cacheBytes, waitersPerKey, waitersPerNode, secrets);
    }

    /**
     * Sets how many threads may wait for a command that is in progress, per key and on this node. Further callers get
     * {@link CommandResult.InProgress} at once.
     */
    public CommandOptions withWaiters(int perKey, int perNode) {
        return new CommandOptions(cipher, clearText, maxResultBytes, cacheBytes, perKey, perNode, secrets);
    }

    /**
     * Computes fingerprints with a secret, so that a reader of the table cannot guess short requests. New fingerprints
     * use the secret with the highest number. Keep the other secrets until the commands that used them are purged.
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

    /** Does not contain the secrets. */
    @Override
    public String toString() {
        return "CommandOptions[maxResultBytes=" + maxResultBytes + ", cacheBytes=" + cacheBytes + ", waitersPerKey="
                + waitersPerKey + ", waitersPerNode=" + waitersPerNode + "]";
    }
}
