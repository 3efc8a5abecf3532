package dev.postrider.idempotency;

import dev.postrider.error.InvalidConfigurationException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A request to run an operation once. Its identity is (tenant, caller, operation, key); the fingerprint tells whether a second
 * request with the same identity is the same. Immutable and checked when built.
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
     * What a command is known by.
     *
     * @param caller null for an operation that is open to all; such keys have a namespace of their own
     */
    public record Identity(
            @Nullable String tenant, @Nullable String caller, String operation, String key) {

        /** Without the key, which may be all that protects a result. */
        @Override
        public String toString() {
            return "Identity[" + operation + "]";
        }
    }

    /** Who may take over a command whose lease ran out. */
    public enum OnLostLease {
        /** The next caller, at once: right when a dead owner's work is rolled back, or harmless when repeated. */
        TAKE_OVER,
        /** Nobody: it is uncertain until a probe or an operator says what became of it. */
        UNCERTAIN
    }

    /**
     * How an operation is run.
     *
     * @param lease how long an owner may be silent before it is taken for dead
     * @param maxRunTime how long the lease is kept up; then the owner is taken for dead although it lives
     * @param resultTtl how long results are kept
     * @param keyTtl how long keys are; after that a key is new
     * @param joinWait how long {@link Commands#join} waits for another transaction with the same key
     * @param waitForResult how long a caller waits for the result of a command that is in progress
     * @param maxAttempts after so many failures it is uncertain instead of being tried again; 0 for no limit
     * @param onlyRecentUuidV7Keys whether keys must be UUIDs of version 7 made within keyTtl, so that no late retry can run twice
     * @param onLostLease null for what suits the mode: taking over, and for leased commands only before the effect started
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

        public Options {
            positive("lease", lease);
            positive("max-run-time", maxRunTime);
            positive("result-ttl", resultTtl);
            positive("key-ttl", keyTtl);
            positive("join-wait", joinWait);
            if (waitForResult.isNegative()) {
                throw new InvalidConfigurationException("command.wait-for-result", "must not be negative");
            }
            if (maxAttempts < 0) {
                throw new InvalidConfigurationException("command.max-attempts", "must not be negative; 0 is no limit");
            }
            if (keyTtl.compareTo(resultTtl) < 0) {
                throw new InvalidConfigurationException(
                        "command.key-ttl", "must not be shorter than result-ttl (" + resultTtl + ")");
            }
        }

        private static void positive(String name, Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new InvalidConfigurationException("command." + name, "must be positive");
            }
        }

        /** How long a key's record is kept, which is longer than the key is accepted if the key itself tells its age. */
        Duration keyKept() {
            return onlyRecentUuidV7Keys ? keyTtl.plus(KeyAge.CLOCKS_MAY_DIFFER.multipliedBy(2)) : keyTtl;
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

        public Options withLease(Duration lease) {
            return changed(parts -> parts.lease = lease);
        }

        public Options withMaxRunTime(Duration maxRunTime) {
            return changed(parts -> parts.maxRunTime = maxRunTime);
        }

        /** How long results and keys are kept. */
        public Options keeping(Duration resultTtl, Duration keyTtl) {
            return changed(parts -> {
                parts.resultTtl = resultTtl;
                parts.keyTtl = keyTtl;
            });
        }

        public Options withJoinWait(Duration joinWait) {
            return changed(parts -> parts.joinWait = joinWait);
        }

        public Options waitingForResult(Duration waitForResult) {
            return changed(parts -> parts.waitForResult = waitForResult);
        }

        public Options withMaxAttempts(int maxAttempts) {
            return changed(parts -> parts.maxAttempts = maxAttempts);
        }

        public Options refusingStaleKeys() {
            return changed(parts -> parts.onlyRecentUuidV7Keys = true);
        }

        public Options onLostLease(OnLostLease onLostLease) {
            return changed(parts -> parts.onLostLease = onLostLease);
        }

        private Options changed(Consumer<Parts> change) {
            Parts parts = new Parts(this);
            change.accept(parts);
            return parts.options();
        }

        /** Options that can be changed. */
        private static final class Parts {

            private Duration lease;
            private Duration maxRunTime;
            private Duration resultTtl;
            private Duration keyTtl;
            private Duration joinWait;
            private Duration waitForResult;
            private int maxAttempts;
            private boolean onlyRecentUuidV7Keys;
            private @Nullable OnLostLease onLostLease;

            private Parts(Options options) {
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

            private Options options() {
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

    /** Begins a command. The operation is a stable name such as {@code payments.charge}, never one of a class. */
    public static Builder named(String operation) {
        return new Builder(operation);
    }

    public Identity identity() {
        return identity;
    }

    /** What is compared; a copy. */
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

    /** The same command, asking another system for the outcome before it is called uncertain. */
    public Command<R> probedBy(OutcomeProbe<R> probe) {
        return new Command<>(identity, fingerprint, options, codec, probe);
    }

    @Override
    public String toString() {
        return "Command[" + identity.operation() + "]";
    }

    /** Collects the parts of a command. Not thread-safe. */
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

        /** Who asks, as authenticated: two callers with the same key have nothing to do with each other. */
        public Builder caller(String caller) {
            this.caller = caller;
            return this;
        }

        /** Says that callers are not told apart: whoever knows a key gets its result. */
        public Builder anyCaller() {
            this.openToAll = true;
            return this;
        }

        /** Chosen by the caller, at most 255 characters. */
        public Builder key(String key) {
            this.key = key;
            return this;
        }

        /** The request, as text. */
        public Builder fingerprint(String request) {
            return fingerprint(request.getBytes(StandardCharsets.UTF_8));
        }

        /** The request, as bytes; only a hash of them is kept. */
        public Builder fingerprint(byte[] request) {
            this.fingerprint = request.clone();
            return this;
        }

        /** How it is run; an operation should always be run in the same way. */
        public Builder with(UnaryOperator<Options> change) {
            this.options = change.apply(options);
            return this;
        }

        /** @throws InvalidCommandException naming the first part that is missing or not acceptable */
        public <R> Command<R> returning(ResultCodec<R> codec) {
            text("operation", operation, LONGEST_OPERATION);
            optional("tenant", tenant);
            if (caller == null && !openToAll) {
                throw new InvalidCommandException(
                        "caller", "is missing: name who asks, or say anyCaller() if everyone may share keys");
            }
            if (caller != null && openToAll) {
                throw new InvalidCommandException("caller", "is given, and anyCaller() too: keep one");
            }
            optional("caller", caller);
            String checkedKey = text("key", key, LONGEST);
            if (fingerprint == null) {
                throw new InvalidCommandException(
                        "fingerprint", "is missing: without it another request could get this one's result");
            }
            return new Command<>(
                    new Identity(tenant, caller, operation, checkedKey),
                    Arrays.copyOf(fingerprint, fingerprint.length),
                    options,
                    Objects.requireNonNull(codec, "codec"),
                    null);
        }

        /** The result is text. */
        public Command<String> returningText() {
            return returning(ResultCodecs.text());
        }

        /** The result is bytes. */
        public Command<byte[]> returningBytes() {
            return returning(ResultCodecs.bytes());
        }

        /** There is no result but that it was done. */
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
                throw new InvalidCommandException(field, "has " + value.length() + " characters, at most " + longest);
            }
            for (int i = 0; i < value.length(); i += Character.charCount(value.codePointAt(i))) {
                int codePoint = value.codePointAt(i);
                boolean half = Character.getType(codePoint) == Character.SURROGATE;
                if (half || Character.isISOControl(codePoint)) {
                    throw new InvalidCommandException(field, "has a character that is not acceptable at " + i);
                }
            }
            return value;
        }
    }
}
