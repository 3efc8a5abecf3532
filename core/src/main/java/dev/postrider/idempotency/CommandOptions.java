package dev.postrider.idempotency;

import dev.postrider.error.InvalidConfigurationException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The options of a node for all commands. Immutable. */
public final class CommandOptions {

    /** The upper limit for {@link Builder#maxResultBytes}, and for the results of all steps of one command. */
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

    private CommandOptions(Builder builder) {
        cipher = builder.cipher;
        clearText = builder.acceptClearText;
        maxResultBytes = within("command.max-result-bytes", builder.maxResultBytes, HARD_CAP);
        cacheBytes = builder.cacheBytes;
        waitersPerKey = within("command.waiters-per-key", builder.waitersPerKey, Integer.MAX_VALUE);
        waitersPerNode = within("command.waiters-per-node", builder.waitersPerNode, Integer.MAX_VALUE);
        secrets = Map.copyOf(builder.secrets);
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
        return new Builder().build();
    }

    /** Returns a copy with changes: {@code options.with(o -> o.maxResultBytes(1024))}. */
    public CommandOptions with(Consumer<Builder> change) {
        Builder builder = new Builder(this);
        change.accept(builder);
        return builder.build();
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

    /** Collects the options. Each method has the name of its property. Not thread-safe. */
    public static final class Builder {

        private @Nullable ResultCipher cipher;
        private boolean acceptClearText;
        private int maxResultBytes = 64 * 1024;
        private long cacheBytes = 8L << 20;
        private int waitersPerKey = 100;
        private int waitersPerNode = 500;
        private final Map<Integer, byte[]> secrets = new TreeMap<>();

        private Builder() {}

        private Builder(CommandOptions options) {
            cipher = options.cipher;
            acceptClearText = options.clearText;
            maxResultBytes = options.maxResultBytes;
            cacheBytes = options.cacheBytes;
            waitersPerKey = options.waitersPerKey;
            waitersPerNode = options.waitersPerNode;
            secrets.putAll(options.secrets);
        }

        /**
         * Encrypts results, results of steps and reasons of rejections in the database. Values that are stored in clear
         * text are then refused, because any user with write access to the table could have written them; see {@link
         * #acceptClearText()}. Errors of failed commands stay readable for operators. With a cipher a reason has at
         * most 400 characters.
         */
        public Builder cipher(ResultCipher cipher) {
            this.cipher = cipher;
            return this;
        }

        /**
         * Also accepts values that were stored without the cipher. Use it after a cipher is introduced, until the
         * earlier commands are purged.
         */
        public Builder acceptClearText() {
            acceptClearText = true;
            return this;
        }

        /** Sets the size limit of a stored result after compression and encryption: up to 1 MiB. */
        public Builder maxResultBytes(int maxResultBytes) {
            this.maxResultBytes = maxResultBytes;
            return this;
        }

        /** Sets the memory for cached results; 0 for no cache. */
        public Builder cacheBytes(long cacheBytes) {
            this.cacheBytes = cacheBytes;
            return this;
        }

        /**
         * Sets how many threads may wait for one command that is in progress. Further callers get {@link
         * CommandResult.InProgress} at once.
         */
        public Builder waitersPerKey(int waitersPerKey) {
            this.waitersPerKey = waitersPerKey;
            return this;
        }

        /**
         * Sets how many threads of this node may wait for commands that are in progress. Further callers get {@link
         * CommandResult.InProgress} at once.
         */
        public Builder waitersPerNode(int waitersPerNode) {
            this.waitersPerNode = waitersPerNode;
            return this;
        }

        /**
         * Adds a secret. Fingerprints are computed with the secret that has the highest number, so that a reader of the
         * table cannot guess short requests. Keep the other secrets until the commands that used them are purged.
         *
         * @param number 2 or more, stored with each fingerprint
         */
        public Builder secret(int number, byte[] secret) {
            if (number < FIRST_SECRET || number > Short.MAX_VALUE) {
                throw new InvalidConfigurationException(
                        "command.secret",
                        "must be numbered " + FIRST_SECRET + " to " + Short.MAX_VALUE + ", not " + number);
            }
            if (secret.length < SHORTEST_SECRET) {
                throw new InvalidConfigurationException(
                        "command.secret", "number " + number + " must have at least " + SHORTEST_SECRET + " bytes");
            }
            secrets.put(number, secret.clone());
            return this;
        }

        private CommandOptions build() {
            return new CommandOptions(this);
        }
    }
}
