package dev.postrider.dispatch;

import dev.postrider.encryption.PayloadCipher;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.inbox.MessageHandler;
import dev.postrider.internal.Internal;
import dev.postrider.internal.store.InboxHandler;
import dev.postrider.internal.store.TopicDeclaration;
import dev.postrider.internal.store.TopicStorage;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.TableOptions;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A declared topic and its delivery settings on this node. Immutable; start with {@link #named}. */
public final class Topic {

    private final TopicName name;
    private final TopicDestination destination;
    private final int handlersPerTransaction;
    private final int handlerThreads;
    private final Duration handlerTimeout;
    private final int maxAttempts;
    private final RetryPolicy retryPolicy;
    private final Predicate<Throwable> permanent;
    private final int maxInFlight;
    private final Set<String> tenants;
    private final boolean tenantPrefixedKeys;
    private final int lanes;
    private final FailurePolicy onFailure;
    private final boolean blockAfterDeadLetter;
    private final Duration baseDelay;
    private final Duration maxDelay;
    private final int breakerFailures;
    private final Duration breakerPause;
    private final TopicStorage storage;
    private final ExpiryPolicy onExpiry;

    private Topic(Builder builder) {
        name = builder.name;
        destination = builder.destination;
        handlersPerTransaction = builder.handlersPerTransaction;
        handlerThreads = builder.handlerThreads;
        handlerTimeout = builder.handlerTimeout;
        maxAttempts = builder.maxAttempts;
        baseDelay = builder.baseDelay;
        maxDelay = builder.maxDelay;
        retryPolicy = builder.policy();
        permanent = builder.permanent;
        maxInFlight = builder.maxInFlight;
        tenants = Set.copyOf(builder.tenants);
        tenantPrefixedKeys = builder.tenantPrefixedKeys;
        lanes = builder.lanes;
        onFailure = builder.onFailure;
        blockAfterDeadLetter = builder.blockAfterDeadLetter;
        breakerFailures = builder.breakerFailures;
        breakerPause = builder.breakerPause;
        storage = new TopicStorage(builder.archive, builder.compressPayloadsAbove, builder.cipher);
        onExpiry = builder.onExpiry;
    }

    public static Builder named(String name) {
        Builder builder = new Builder(TopicName.of(name));
        builder.check(
                !builder.name.isOfInbox(),
                "name",
                "is in the namespace of the inbox: declare it with inbox(…) instead");
        return builder;
    }

    /** Starts a topic in the namespace of the inbox. */
    static Builder ofInbox(TopicName name) {
        return new Builder(name);
    }

    public TopicName name() {
        return name;
    }

    /** Whether this node delivers the topic, or only writes to it. */
    public boolean isDelivered() {
        return !(destination instanceof TopicDestination.None);
    }

    @Internal
    public TopicDeclaration declaration() {
        return new TopicDeclaration(name, lanes, tenantPrefixedKeys);
    }

    @Internal
    public TopicStorage storage() {
        return storage;
    }

    TopicDestination destination() {
        return destination;
    }

    int handlersPerTransaction() {
        return handlersPerTransaction;
    }

    int handlerThreads() {
        return handlerThreads;
    }

    Duration handlerTimeout() {
        return handlerTimeout;
    }

    int maxAttempts() {
        return maxAttempts;
    }

    RetryPolicy retryPolicy() {
        return retryPolicy;
    }

    boolean isPermanent(Throwable failure) {
        return permanent.test(failure);
    }

    int maxInFlight() {
        return maxInFlight;
    }

    Set<String> tenants() {
        return tenants;
    }

    boolean isOrdered() {
        return lanes > 0;
    }

    int lanes() {
        return lanes;
    }

    FailurePolicy onFailure() {
        return onFailure;
    }

    boolean blocksAfterDeadLetter() {
        return blockAfterDeadLetter;
    }

    ExpiryPolicy onExpiry() {
        return onExpiry;
    }

    int breakerFailures() {
        return breakerFailures;
    }

    Duration breakerPause() {
        return breakerPause;
    }

    /** All properties with their values, named as in the documentation. */
    public Map<String, String> describe() {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("max-attempts", Integer.toString(maxAttempts));
        properties.put("base-delay", DispatchOptions.text(baseDelay));
        properties.put("max-delay", DispatchOptions.text(maxDelay));
        properties.put("max-in-flight", Integer.toString(maxInFlight));
        properties.put("breaker-failures", Integer.toString(breakerFailures));
        properties.put("breaker-pause", DispatchOptions.text(breakerPause));
        properties.put("handler-timeout", DispatchOptions.text(handlerTimeout));
        properties.put("handler-threads", Integer.toString(handlerThreads));
        properties.put("handlers-per-transaction", Integer.toString(handlersPerTransaction));
        properties.put("tenant-prefixed-keys", Boolean.toString(tenantPrefixedKeys));
        properties.put("lanes", Integer.toString(lanes));
        properties.put("on-failure", onFailure.name().toLowerCase(Locale.ROOT));
        properties.put("block-after-dead-letter", Boolean.toString(blockAfterDeadLetter));
        properties.put("on-expiry", written(onExpiry));
        properties.put("archive", storage.archive() == null ? "inherited" : written(storage.archive()));
        properties.put("compress-payloads-above", Integer.toString(storage.compressPayloadsAbove()));
        properties.put("encrypt-payloads", storage.cipher() == null ? "none" : "declared");
        return properties;
    }

    /** As in a configuration file. */
    private static String written(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Builds a topic. Each default is written here, once. Not thread-safe. */
    public static final class Builder {

        static final int DEFAULT_LANES = 32;

        private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(1);
        private static final Duration LONGEST_TIMEOUT = Duration.ofHours(24);

        private final TopicName name;
        private TopicDestination destination = new TopicDestination.None();
        private int handlersPerTransaction = 1;
        private int handlerThreads = 4;
        private Duration handlerTimeout = Duration.ofMinutes(5);
        private int maxAttempts = 5;
        private Duration baseDelay = Duration.ofSeconds(10);
        private Duration maxDelay = Duration.ofMinutes(5);
        private @Nullable RetryPolicy retryPolicy;
        private Predicate<Throwable> permanent = failure -> false;
        private int maxInFlight = 100;
        private Set<String> tenants = Set.of();
        private boolean tenantPrefixedKeys;
        private int lanes;
        private FailurePolicy onFailure = FailurePolicy.BLOCK;
        private boolean blockAfterDeadLetter = true;
        private int breakerFailures = 100;
        private Duration breakerPause = Duration.ofSeconds(30);
        private TableOptions.@Nullable Archive archive;
        private int compressPayloadsAbove;
        private ExpiryPolicy onExpiry = ExpiryPolicy.DEAD_LETTER;
        private @Nullable PayloadCipher cipher;

        private Builder(TopicName name) {
            this.name = name;
        }

        /** Delivers with a transport. */
        public Builder deliver(Transport transport) {
            return to(new TopicDestination.ByTransport(transport));
        }

        /** Delivers by running a handler of the application in threads of the dispatcher. */
        public Builder deliver(DeliveryHandler handler) {
            return to(new TopicDestination.ByHandler(handler));
        }

        /**
         * Delivers by running a handler of the application in the transaction that removes the message. The rows that
         * the handler writes to this database, the messages that it sends and the removal of the message commit
         * together. The transaction runs at READ COMMITTED on a connection of the dispatcher. The handler takes effect
         * once, however often it is attempted.
         */
        public Builder process(MessageHandler handler) {
            return to(new TopicDestination.Processing(handler));
        }

        /**
         * With {@link #process}: the number of transactions of this topic that this node runs at once. Each needs a
         * thread and a connection, so the sum over all topics must leave a few connections of the pool to the
         * dispatcher itself.
         */
        public Builder handlerThreads(int handlerThreads) {
            this.handlerThreads = handlerThreads;
            return this;
        }

        /**
         * With {@link #process}: the largest number of messages in one transaction, if that many are waiting. A message
         * that fails is rolled back alone. The others commit together, which is faster than one by one, and wait for
         * each other.
         */
        public Builder handlersPerTransaction(int handlersPerTransaction) {
            this.handlersPerTransaction = handlersPerTransaction;
            return this;
        }

        /**
         * Delivers into the durable inbox of a consumer in the same database, without a broker. In one commit the
         * message leaves this topic and is stored for the handlers of the consumer. {@link #handlerThreads} and {@link
         * #handlersPerTransaction} apply.
         */
        public Builder toInbox(String consumer) {
            InboxHandler.consumerTopic(consumer); // checks the name
            return to(new TopicDestination.IntoInbox(consumer));
        }

        /**
         * Declares the consumer's own topic. When an operator replays one of its messages, the handlers are looked up
         * again.
         */
        Builder routes(String consumer) {
            return to(new TopicDestination.ToInboxHandlers(consumer));
        }

        private Builder to(TopicDestination destination) {
            if (!(this.destination instanceof TopicDestination.None)) {
                throw invalid("deliver", "is declared twice: keep one");
            }
            this.destination = destination;
            return this;
        }

        /** The total number of attempts, including the first. */
        public Builder maxAttempts(int maxAttempts) {
            this.maxAttempts = maxAttempts;
            return this;
        }

        /** The delay after the first failure. It doubles with each further failure, up to {@link #maxDelay}. */
        public Builder baseDelay(Duration baseDelay) {
            this.baseDelay = baseDelay;
            return this;
        }

        public Builder maxDelay(Duration maxDelay) {
            this.maxDelay = maxDelay;
            return this;
        }

        /** Replaces the doubling delays by another policy. */
        public Builder retry(RetryPolicy retryPolicy) {
            this.retryPolicy = retryPolicy;
            return this;
        }

        /** Selects the exceptions that a retry cannot fix. They reject the message without another attempt. */
        public Builder permanentOn(Predicate<Throwable> permanent) {
            this.permanent = permanent;
            return this;
        }

        /**
         * The largest number of messages of this topic that this node delivers at once; for a handler, the number of
         * threads that it may use.
         */
        public Builder maxInFlight(int maxInFlight) {
            this.maxInFlight = maxInFlight;
            return this;
        }

        /**
         * The number of failed deliveries in a row after which the circuit breaker opens. This node then attempts one
         * message after a second, and pauses for twice as long each time that fails. While the breaker is open no
         * message is delivered, and no attempt is used up. 0 disables the breaker. Has no effect on topics with {@link
         * #process} or {@link #toInbox}, whose destination is this database.
         */
        public Builder breakerFailures(int breakerFailures) {
            this.breakerFailures = breakerFailures;
            return this;
        }

        /** The longest time that the circuit breaker stays open before the next attempt. */
        public Builder breakerPause(Duration breakerPause) {
            this.breakerPause = breakerPause;
            return this;
        }

        /** The time after which a handler is interrupted and its attempt counts as failed. */
        public Builder handlerTimeout(Duration handlerTimeout) {
            this.handlerTimeout = handlerTimeout;
            return this;
        }

        /** Limits this node to the messages of these tenants. */
        public Builder tenants(Set<String> tenants) {
            this.tenants = tenants;
            return this;
        }

        /** Refuses messages of a tenant whose idempotency key does not begin with {@code <tenant>/}. */
        public Builder tenantPrefixedKeys() {
            return tenantPrefixedKeys(true);
        }

        public Builder tenantPrefixedKeys(boolean tenantPrefixedKeys) {
            this.tenantPrefixedKeys = tenantPrefixedKeys;
            return this;
        }

        /**
         * Delivers messages with the same key one after another, in the order they were written. Every message needs a
         * key.
         */
        public Builder ordered() {
            return lanes(DEFAULT_LANES);
        }

        /**
         * The same as {@link #ordered}, with this number of lanes. The number is the largest number of nodes that can
         * share the topic. It is fixed once the topic is registered. 0 for an unordered topic.
         */
        public Builder lanes(int lanes) {
            this.lanes = lanes;
            return this;
        }

        /** On an ordered topic: the policy for a key whose head fails. */
        public Builder onFailure(FailurePolicy onFailure) {
            this.onFailure = onFailure;
            return this;
        }

        /**
         * On an ordered topic: whether a key stays blocked for an operator when its head has used up its attempts or
         * was rejected. True by default. If false, the head becomes a dead letter and the key continues.
         */
        public Builder blockAfterDeadLetter(boolean block) {
            this.blockAfterDeadLetter = block;
            return this;
        }

        /**
         * Which part of a delivered message of this topic the archive keeps. The node that delivers a message decides.
         * Without this call, the option {@link TableOptions#archive} of the tables applies.
         */
        public Builder archive(TableOptions.Archive archive) {
            this.archive = archive;
            return this;
        }

        /**
         * Compresses payloads of this topic that are larger than this number of bytes, if that makes them smaller. The
         * node that writes a message decides, and nodes of any declaration deliver it. 0, the default, for never.
         */
        public Builder compressPayloadsAbove(int bytes) {
            this.compressPayloadsAbove = bytes;
            return this;
        }

        /**
         * The policy for messages of this topic that expire before they are delivered. The node that finds an expired
         * message decides.
         */
        public Builder onExpiry(ExpiryPolicy onExpiry) {
            this.onExpiry = onExpiry;
            return this;
        }

        /**
         * Encrypts the payloads of this topic that this node writes, and decrypts those that it delivers. Declare it in
         * every process that writes to the topic or delivers it. Payloads that are not encrypted are delivered too.
         */
        public Builder encryptPayloads(PayloadCipher cipher) {
            this.cipher = cipher;
            return this;
        }

        public Topic build() {
            check(lanes >= 0 && lanes <= 1024, "lanes", "must be 0 (unordered) to 1024, but is " + lanes);
            check(
                    lanes == 0 || tenants.isEmpty(),
                    "tenants",
                    "cannot be limited on an ordered topic: its lanes contain the messages of all tenants");
            check(
                    maxAttempts >= 1 && maxAttempts <= 1_000_000,
                    "max-attempts",
                    "must be 1 to 1000000, but is " + maxAttempts);
            check(
                    maxInFlight >= 1 && maxInFlight <= 10_000,
                    "max-in-flight",
                    "must be 1 to 10000, but is " + maxInFlight);
            check(
                    breakerFailures >= 0 && breakerFailures <= 1_000_000,
                    "breaker-failures",
                    "must be 0 (never) to 1000000, but is " + breakerFailures);
            check(
                    breakerPause.compareTo(SHORTEST_TIMEOUT) >= 0 && breakerPause.compareTo(LONGEST_TIMEOUT) <= 0,
                    "breaker-pause",
                    "must be 1 ms to 24 h, but is " + breakerPause);
            check(
                    handlerThreads >= 1 && handlerThreads <= 1000,
                    "handler-threads",
                    "must be 1 to 1000, but is " + handlerThreads);
            check(
                    handlersPerTransaction >= 1 && handlersPerTransaction <= 100,
                    "handlers-per-transaction",
                    "must be 1 to 100, but is " + handlersPerTransaction);
            check(
                    handlerTimeout.compareTo(SHORTEST_TIMEOUT) >= 0 && handlerTimeout.compareTo(LONGEST_TIMEOUT) <= 0,
                    "handler-timeout",
                    "must be 1 ms to 24 h, but is " + handlerTimeout);
            check(
                    compressPayloadsAbove >= 0,
                    "compress-payloads-above",
                    "must be 0 (never) or a number of bytes, but is " + compressPayloadsAbove);
            return new Topic(this);
        }

        private RetryPolicy policy() {
            if (retryPolicy != null) {
                return retryPolicy;
            }
            try {
                return RetryPolicy.exponential(baseDelay, maxDelay);
            } catch (InvalidConfigurationException e) {
                String problem = String.valueOf(e.getMessage()); // it begins with the property
                throw invalid(e.property(), problem.substring(e.property().length() + 1));
            }
        }

        private void check(boolean condition, String property, String problem) {
            if (!condition) {
                throw invalid(property, problem);
            }
        }

        private InvalidConfigurationException invalid(String property, String problem) {
            return new InvalidConfigurationException("topic." + name + "." + property, problem);
        }
    }
}
