package dev.postrider.dispatch;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.inbox.MessageHandler;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.HandlingStore;
import dev.postrider.store.InboxHandler;
import dev.postrider.store.TopicDeclaration;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A declared topic and how this node delivers it. Immutable; begin with {@link #named}. */
public final class Topic {

    private final TopicName name;
    private final @Nullable Transport transport;
    private final @Nullable DeliveryHandler handler;
    private final @Nullable MessageHandler process;
    private final @Nullable String intoInbox;
    private final @Nullable String routed;
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
    private final boolean holdAfterDeadLetter;
    private final Duration baseDelay;
    private final Duration maxDelay;
    private final int breakerFailures;
    private final Duration breakerPause;

    private Topic(Builder builder) {
        name = builder.name;
        transport = builder.transport;
        handler = builder.handler;
        process = builder.process;
        intoInbox = builder.intoInbox;
        routed = builder.routed;
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
        holdAfterDeadLetter = builder.holdAfterDeadLetter;
        breakerFailures = builder.breakerFailures;
        breakerPause = builder.breakerPause;
    }

    public static Builder named(String name) {
        Builder builder = new Builder(TopicName.of(name));
        builder.check(
                !builder.name.isOfInbox(),
                "name",
                "is in the namespace of the inbox: declare it with inbox(…) instead");
        return builder;
    }

    /** A topic of the inbox's own. */
    static Builder ofInbox(TopicName name) {
        return new Builder(name);
    }

    public TopicName name() {
        return name;
    }

    /** Whether this node delivers the topic, or only writes to it. */
    public boolean isDelivered() {
        return transport != null || handler != null || isProcessed();
    }

    public TopicDeclaration declaration() {
        return new TopicDeclaration(name, lanes, tenantPrefixedKeys);
    }

    @Nullable
    Transport transport() {
        return transport;
    }

    @Nullable
    DeliveryHandler handler() {
        return handler;
    }

    /** Whether its messages are handled in the transaction that removes them. */
    boolean isProcessed() {
        return process != null || intoInbox != null || routed != null;
    }

    /** What its messages are handled by, if that is so. */
    HandlingStore.Handler handledBy(HandlingStore store) {
        if (intoInbox != null) {
            return store.intoInbox(intoInbox);
        }
        if (routed != null) {
            return store.router(routed);
        }
        MessageHandler own = Objects.requireNonNull(process);
        return (claim, message, work) -> own.handle(message, work);
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

    boolean holdsAfterDeadLetter() {
        return holdAfterDeadLetter;
    }

    int breakerFailures() {
        return breakerFailures;
    }

    Duration breakerPause() {
        return breakerPause;
    }

    /** Each property with its value, as the documentation lists them. */
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
        properties.put("hold-after-dead-letter", Boolean.toString(holdAfterDeadLetter));
        return properties;
    }

    /** The defaults, each written once. Not thread-safe. */
    public static final class Builder {

        private static final int DEFAULT_LANES = 32;
        private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(1);
        private static final Duration LONGEST_TIMEOUT = Duration.ofHours(24);

        private final TopicName name;
        private @Nullable Transport transport;
        private @Nullable DeliveryHandler handler;
        private @Nullable MessageHandler process;
        private @Nullable String intoInbox;
        private @Nullable String routed;
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
        private boolean holdAfterDeadLetter = true;
        private int breakerFailures = 100;
        private Duration breakerPause = Duration.ofSeconds(30);

        private Builder(TopicName name) {
            this.name = name;
        }

        /** Delivers by a transport. */
        public Builder deliver(Transport transport) {
            once();
            this.transport = transport;
            return this;
        }

        /** Delivers by running code of the application's own, in threads of the dispatcher's. */
        public Builder deliver(DeliveryHandler handler) {
            once();
            this.handler = handler;
            return this;
        }

        /**
         * Delivers by running code of the application's own in the transaction that removes the message: what it writes to this
         * database, what it sends, and that the message was handled commit together. It runs at READ COMMITTED, on a connection of
         * the dispatcher's, and takes effect once however often it is tried.
         */
        public Builder process(MessageHandler handler) {
            once();
            this.process = handler;
            return this;
        }

        /**
         * With {@link #process}: how many transactions of this topic this node runs at once. Each takes a thread and a connection, so
         * the sum over all topics must leave the pool a few for the dispatcher itself.
         */
        public Builder handlerThreads(int handlerThreads) {
            this.handlerThreads = handlerThreads;
            return this;
        }

        /**
         * With {@link #process}: how many messages may share a transaction, if so many are waiting. One that fails is rolled back by
         * itself; the others commit together, which is quicker than one by one, and wait for each other.
         */
        public Builder handlersPerTransaction(int handlersPerTransaction) {
            this.handlersPerTransaction = handlersPerTransaction;
            return this;
        }

        /**
         * Delivers into the durable inbox of a consumer in the same database, without a broker: a message leaves this topic and is given
         * to the consumer's handlers in one commit. {@link #handlerThreads} and {@link #handlersPerTransaction} apply.
         */
        public Builder toInbox(String consumer) {
            once();
            InboxHandler.consumerTopic(consumer);
            this.intoInbox = consumer;
            return this;
        }

        /** The consumer's own topic, whose messages look for handlers again when an operator replays them. */
        Builder routes(String consumer) {
            once();
            this.routed = consumer;
            return this;
        }

        private void once() {
            if (transport != null || handler != null || process != null || intoInbox != null || routed != null) {
                throw invalid("deliver", "is declared twice: keep one");
            }
        }

        /** How many attempts are made in all, the first included. */
        public Builder maxAttempts(int maxAttempts) {
            this.maxAttempts = maxAttempts;
            return this;
        }

        /** The delay after the first failure; it doubles with each further one, up to the maximum. */
        public Builder baseDelay(Duration baseDelay) {
            this.baseDelay = baseDelay;
            return this;
        }

        public Builder maxDelay(Duration maxDelay) {
            this.maxDelay = maxDelay;
            return this;
        }

        /** Another policy in place of the doubling delays. */
        public Builder retry(RetryPolicy retryPolicy) {
            this.retryPolicy = retryPolicy;
            return this;
        }

        /** Which exceptions of a handler will not go away by trying again. */
        public Builder permanentOn(Predicate<Throwable> permanent) {
            this.permanent = permanent;
            return this;
        }

        /** How many messages of this topic this node holds at once; for a handler, how many threads it may take. */
        public Builder maxInFlight(int maxInFlight) {
            this.maxInFlight = maxInFlight;
            return this;
        }

        /**
         * After how many failed deliveries in a row the destination is taken to be down: then this node leaves the topic alone for a
         * second, tries one message, and for twice as long each time that fails. Nothing is delivered meanwhile, and no attempt used
         * up. 0 for never. Not for topics with {@link #process} or {@link #toInbox}, whose destination is this database.
         */
        public Builder breakerFailures(int breakerFailures) {
            this.breakerFailures = breakerFailures;
            return this;
        }

        /** How long the topic is left alone at most before it is tried again. */
        public Builder breakerPause(Duration breakerPause) {
            this.breakerPause = breakerPause;
            return this;
        }

        /** After how long a handler is interrupted and its attempt counted as failed. */
        public Builder handlerTimeout(Duration handlerTimeout) {
            this.handlerTimeout = handlerTimeout;
            return this;
        }

        /** Only messages of these tenants are delivered by this node. */
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

        /** Messages with the same key are delivered one after another, in the order they were written; every message needs a key. */
        public Builder ordered() {
            return lanes(DEFAULT_LANES);
        }

        /**
         * The same, with the keys spread over so many lanes: the most nodes that can share the topic's work. Fixed once the topic is
         * registered. 0 for an unordered topic.
         */
        public Builder lanes(int lanes) {
            this.lanes = lanes;
            return this;
        }

        /** On an ordered topic: what becomes of a key whose first message cannot be delivered. */
        public Builder onFailure(FailurePolicy onFailure) {
            this.onFailure = onFailure;
            return this;
        }

        /**
         * On an ordered topic: whether a key is held for an operator when its first message has used up its attempts or was rejected,
         * which is what happens unless told otherwise, or goes on behind the dead letter.
         */
        public Builder holdAfterDeadLetter(boolean hold) {
            this.holdAfterDeadLetter = hold;
            return this;
        }

        public Topic build() {
            check(lanes >= 0 && lanes <= 1024, "lanes", "must be 0 (unordered) to 1024, but is " + lanes);
            check(
                    lanes == 0 || tenants.isEmpty(),
                    "tenants",
                    "cannot be chosen by a node on an ordered topic: its lanes carry all of them");
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
            return new Topic(this);
        }

        private RetryPolicy policy() {
            if (retryPolicy != null) {
                return retryPolicy;
            }
            try {
                return RetryPolicy.exponential(baseDelay, maxDelay);
            } catch (InvalidConfigurationException e) {
                String problem = String.valueOf(e.getMessage()); // which begins with the property
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
