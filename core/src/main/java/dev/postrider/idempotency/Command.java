package dev.postrider.idempotency;

import dev.postrider.error.InvalidConfigurationException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request to run an operation once. The identity of a command is (tenant, caller, operation, key). The fingerprint
 * shows whether a second request with the same identity is the same request. Immutable; validated when it is built.
 */
public final class Command<R> {

    private static final int LONGEST = 255;
    private static final int LONGEST_OPERATION = 100;

    private final Identity identity;
    private final byte[] fingerprint;
    private final Options options;
    private final ResultCodec<R> codec;
    private final @Nullable OutcomeProbe<R> probe;

    private Command(
            Identity identity,
            byte[] fingerprint,
            Options options,
            ResultCodec<R> codec,
            @Nullable OutcomeProbe<R> probe) {
        this.identity = identity;
        this.fingerprint = fingerprint;
        this.options = options;
        this.codec = codec;
        this.probe = probe;
    }

    /**
     * The identity of a command.
     *
     * @param caller null for an operation without separate callers; the keys of such operations have their own
     *     namespace
     */
    public record Identity(
            @Nullable String tenant, @Nullable String caller, String operation, String key) {

        /** Does not contain the key: a caller may need only the key to read a result. */
        @Override
        public String toString() {
            return "Identity[" + operation + "]";
        }
    }

    /** The policy for a command whose lease ended without an outcome. */
    public enum OnLostLease {
        /**
         * The next caller takes the command over at once. Choose it if the work of a lost owner is rolled back, or is
         * harmless when repeated.
         */
        TAKE_OVER,
        /** No caller takes the command over. It is uncertain until a probe or an operator resolves it. */
        UNCERTAIN
    }

    /**
     * The options for the execution of an operation. A duration outside its limits causes an {@link
     * InvalidConfigurationException} that names the option. It is thrown before the command is claimed.
     *
     * @param lease the time without a renewal after which an owner counts as lost: 100 milliseconds to a year
     * @param maxRunTime the time during which the lease is renewed; after it the lease ends even if the owner still
     *     runs: 1 millisecond to a year
     * @param resultTtl the retention of results: 1 millisecond to 9000 days
     * @param keyTtl the retention of keys, at least resultTtl; after it the same key starts a new command: 1
     *     millisecond to 9000 days
     * @param joinWait how long {@link Commands#join} waits for another transaction with the same key: 1 millisecond to
     *     a day
     * @param waitForResult how long a caller waits for the result of a command that is in progress: 0 to a day
     * @param maxAttempts the number of failed attempts after which the command is uncertain and is not attempted again;
     *     0 for no limit
     * @param onlyRecentUuidV7Keys whether keys must be UUIDs of version 7 created within keyTtl, so that a late retry
     *     cannot run the command twice
     * @param onLostLease null for the default of the mode: takeover; for leased commands takeover only until the
     *     external effect starts
     */
    public record Options(
            Duration lease,
            Duration maxRunTime,
            Duration resultTtl,
            Duration keyTtl,
            Duration joinWait,
            Duration waitForResult,
            int maxAttempts,
            boolean onlyRecentUuidV7Keys,
            @Nullable OnLostLease onLostLease) {

        /** A lease is renewed after each third of its duration, so a shorter lease causes too many statements. */
        private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);

        private static final Duration MILLISECOND = Duration.ofMillis(1);

        /** Database servers store a lock timeout in milliseconds, in 31 bits. */
        private static final Duration DAY = Duration.ofDays(1);

        private static final Duration YEAR = Duration.ofDays(365);

        /** Databases do not reliably store a timestamp further in the future than this. */
        private static final Duration LONGEST_KEPT = Duration.ofDays(9000);

        public Options {
            within("lease", lease, SHORTEST_LEASE, YEAR);
            within("max-run-time", maxRunTime, MILLISECOND, YEAR);
            within("result-ttl", resultTtl, MILLISECOND, LONGEST_KEPT);
            within("key-ttl", keyTtl, MILLISECOND, LONGEST_KEPT);
            within("join-wait", joinWait, MILLISECOND, DAY);
            within("wait-for-result", waitForResult, Duration.ZERO, DAY);
            if (maxAttempts < 0) {
                throw new InvalidConfigurationException("command.max-attempts", "must not be negative; 0 is no limit");
            }
            if (keyTtl.compareTo(resultTtl) < 0) {
                throw new InvalidConfigurationException(
                        "command.key-ttl", "must not be shorter than result-ttl (" + resultTtl + ")");
            }
        }

        private static void within(String name, Duration value, Duration least, Duration most) {
            if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
                throw new InvalidConfigurationException(
                        "command." + name, "must lie between " + least + " and " + most + ", but is " + value);
            }
        }

        /**
         * The retention of the row of a key. It is longer than keyTtl if keys contain their own creation time, because
         * clocks may differ.
         */
        Duration keyKept() {
            return onlyRecentUuidV7Keys ? keyTtl.plus(KeyAgeCheck.CLOCKS_MAY_DIFFER.multipliedBy(2)) : keyTtl;
        }

        public static Options defaults() {
            return new Options(
                    Duration.ofSeconds(30),
                    Duration.ofMinutes(10),
                    Duration.ofHours(24),
                    Duration.ofHours(24),
                    Duration.ofSeconds(5),
                    Duration.ZERO,
                    0,
                    false,
                    null);
        }

        /** Returns a copy with changes: {@code options.with(o -> o.lease(Duration.ofSeconds(10)))}. */
        public Options with(Consumer<Builder> change) {
            Builder builder = new Builder(this);
            change.accept(builder);
            return builder.build();
        }

        /** Collects the options of a command. Each method has the name of its property. Not thread-safe. */
        public static final class Builder {

            private Duration lease;
            private Duration maxRunTime;
            private Duration resultTtl;
            private Duration keyTtl;
            private Duration joinWait;
            private Duration waitForResult;
            private int maxAttempts;
            private boolean onlyRecentUuidV7Keys;
            private @Nullable OnLostLease onLostLease;

            private Builder(Options options) {
                lease = options.lease;
                maxRunTime = options.maxRunTime;
                resultTtl = options.resultTtl;
                keyTtl = options.keyTtl;
                joinWait = options.joinWait;
                waitForResult = options.waitForResult;
                maxAttempts = options.maxAttempts;
                onlyRecentUuidV7Keys = options.onlyRecentUuidV7Keys;
                onLostLease = options.onLostLease;
            }

            /** Sets how long the command belongs to its caller before another caller can take it over. A running command renews its lease. */
            public Builder lease(Duration lease) {
                this.lease = lease;
                return this;
            }

            /** Sets for how long the lease of a running command is renewed. */
            public Builder maxRunTime(Duration maxRunTime) {
                this.maxRunTime = maxRunTime;
                return this;
            }

            /** Sets the retention of the result. */
            public Builder resultTtl(Duration resultTtl) {
                this.resultTtl = resultTtl;
                return this;
            }

            /** Sets the retention of the key: at least as long as that of the result. */
            public Builder keyTtl(Duration keyTtl) {
                this.keyTtl = keyTtl;
                return this;
            }

            /** Sets how long a joined command waits for another transaction with the same key. */
            public Builder joinWait(Duration joinWait) {
                this.joinWait = joinWait;
                return this;
            }

            /** Sets how long a caller waits for a command that another caller runs. */
            public Builder waitForResult(Duration waitForResult) {
                this.waitForResult = waitForResult;
                return this;
            }

            /** Sets the number of failed attempts after which the command is uncertain; 0 for no limit. */
            public Builder maxAttempts(int maxAttempts) {
                this.maxAttempts = maxAttempts;
                return this;
            }

            /** Sets what happens to a command whose owner is lost. */
            public Builder onLostLease(OnLostLease onLostLease) {
                this.onLostLease = onLostLease;
                return this;
            }

            /** Accepts only keys that are UUIDs of version 7 created within {@code keyTtl}, so that a late retry cannot run the command twice. */
            public Builder onlyRecentUuidV7Keys() {
                onlyRecentUuidV7Keys = true;
                return this;
            }

            private Options build() {
                return new Options(
                        lease,
                        maxRunTime,
                        resultTtl,
                        keyTtl,
                        joinWait,
                        waitForResult,
                        maxAttempts,
                        onlyRecentUuidV7Keys,
                        onLostLease);
            }
        }
    }

    /**
     * Starts the builder of a command. The operation is a stable name such as {@code payments.charge}, never the name
     * of a class.
     */
    public static Builder named(String operation) {
        return new Builder(operation);
    }

    public Identity identity() {
        return identity;
    }

    /** The bytes that identify the request; a copy. */
    public byte[] fingerprint() {
        return fingerprint.clone();
    }

    public Options options() {
        return options;
    }

    public ResultCodec<R> codec() {
        return codec;
    }

    public @Nullable OutcomeProbe<R> probe() {
        return probe;
    }

    /**
     * Returns a copy of this command with a probe. The probe asks another system for the outcome of an uncertain
     * command.
     */
    public Command<R> probedBy(OutcomeProbe<R> probe) {
        return new Command<>(identity, fingerprint, options, codec, probe);
    }

    @Override
    public String toString() {
        return "Command[" + identity.operation() + "]";
    }

    /** Builds a command. Not thread-safe. */
    public static final class Builder {

        private final String operation;
        private @Nullable String tenant;
        private @Nullable String caller;
        private boolean openToAll;
        private @Nullable String key;
        private byte @Nullable [] fingerprint;
        private Options options = Options.defaults();

        private Builder(String operation) {
            this.operation = operation;
        }

        public Builder tenant(@Nullable String tenant) {
            this.tenant = tenant;
            return this;
        }

        /** Sets the authenticated caller. Two callers with the same key have two separate commands. */
        public Builder caller(String caller) {
            this.caller = caller;
            return this;
        }

        /** Declares that all callers share keys: every caller with the same key gets the same result. */
        public Builder anyCaller() {
            this.openToAll = true;
            return this;
        }

        /** Sets the key that the caller chose: at most 255 characters. */
        public Builder key(String key) {
            this.key = key;
            return this;
        }

        /**
         * Sets the request as text.
         *
         * @throws InvalidCommandException when the text has an unpaired surrogate, which UTF-8 cannot encode: different
         *     requests would have the same fingerprint
         */
        public Builder fingerprint(String request) {
            int half = halfOfAPair(request);
            if (half >= 0) {
                throw new InvalidCommandException(
                        "fingerprint", "has an unpaired surrogate at index " + half + ": pass the request as bytes");
            }
            return fingerprint(request.getBytes(StandardCharsets.UTF_8));
        }

        /** The index of the first unpaired surrogate; -1 if there is none. */
        private static int halfOfAPair(String text) {
            for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
                if (Character.getType(text.codePointAt(i)) == Character.SURROGATE) {
                    return i;
                }
            }
            return -1;
        }

        /** Sets the request as bytes. Only a hash of them is stored. */
        public Builder fingerprint(byte[] request) {
            this.fingerprint = request.clone();
            return this;
        }

        /** Sets the options, for example those that several commands share. */
        public Builder options(Options options) {
            this.options = options;
            return this;
        }

        /** Changes the options. Use the same options for all commands of an operation. */
        public Builder with(Consumer<Options.Builder> change) {
            this.options = options.with(change);
            return this;
        }

        /**
         * Builds the command.
         *
         * @throws InvalidCommandException for the first part that is missing or invalid; the message names it
         */
        public <R> Command<R> returning(ResultCodec<R> codec) {
            text("operation", operation, LONGEST_OPERATION);
            optional("tenant", tenant);
            if (caller == null && !openToAll) {
                throw new InvalidCommandException(
                        "caller", "is missing: set it, or call anyCaller() if all callers may share keys");
            }
            if (caller != null && openToAll) {
                throw new InvalidCommandException("caller", "is set together with anyCaller(): use one of them");
            }
            optional("caller", caller);
            String checkedKey = text("key", key, LONGEST);
            if (fingerprint == null) {
                throw new InvalidCommandException(
                        "fingerprint", "is missing: without it a different request could get this result");
            }
            return new Command<>(
                    new Identity(tenant, caller, operation, checkedKey),
                    Arrays.copyOf(fingerprint, fingerprint.length),
                    options,
                    Objects.requireNonNull(codec, "codec"),
                    null);
        }

        /** Builds a command whose result is text. */
        public Command<String> returningText() {
            return returning(ResultCodecs.text());
        }

        /** Builds a command whose result is bytes. */
        public Command<byte[]> returningBytes() {
            return returning(ResultCodecs.bytes());
        }

        /** Builds a command without a result value. */
        public Command<Void> returningNothing() {
            return returning(ResultCodecs.nothing());
        }

        private static void optional(String field, @Nullable String value) {
            if (value != null) {
                text(field, value, LONGEST);
            }
        }

        private static String text(String field, @Nullable String value, int longest) {
            if (value == null || value.isEmpty()) {
                throw new InvalidCommandException(field, "is missing");
            }
            if (value.length() > longest) {
                throw new InvalidCommandException(field, "has " + value.length() + " characters, limit " + longest);
            }
            for (int i = 0; i < value.length(); i += Character.charCount(value.codePointAt(i))) {
                int codePoint = value.codePointAt(i);
                boolean half = Character.getType(codePoint) == Character.SURROGATE;
                if (half || Character.isISOControl(codePoint)) {
                    throw new InvalidCommandException(field, "has an invalid character at index " + i);
                }
            }
            return value;
        }
    }
}
