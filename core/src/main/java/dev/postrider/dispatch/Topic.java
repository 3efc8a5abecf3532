package dev.postrider.dispatch;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.TopicDeclaration;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A declared topic and how this node delivers it. Immutable; begin with {@link #named}. */
public final class Topic {

    private final TopicName name;
    private final @Nullable Transport transport;
    private final @Nullable DeliveryHandler handler;
    private final Duration handlerTimeout;
    private final int maxAttempts;
    private final RetryPolicy retryPolicy;
    private final Predicate<Throwable> permanent;
    private final int maxInFlight;
    private final Set<String> tenants;
    private final boolean tenantPrefixedKeys;
    private final Duration baseDelay;
    private final Duration maxDelay;

    private Topic(Builder builder) {
        name = builder.name;
        transport = builder.transport;
        handler = builder.handler;
        handlerTimeout = builder.handlerTimeout;
        maxAttempts = builder.maxAttempts;
        baseDelay = builder.baseDelay;
        maxDelay = builder.maxDelay;
        retryPolicy = builder.policy();
        permanent = builder.permanent;
        maxInFlight = builder.maxInFlight;
        tenants = Set.copyOf(builder.tenants);
        tenantPrefixedKeys = builder.tenantPrefixedKeys;
    }

    public static Builder named(String name) {
        return new Builder(TopicName.of(name));
    }

    public TopicName name() {
        return name;
    }

    /** Whether this node delivers the topic, or only writes to it. */
    public boolean isDelivered() {
        return transport != null || handler != null;
    }

    public TopicDeclaration declaration() {
        return new TopicDeclaration(name, tenantPrefixedKeys);
    }

    @Nullable
    Transport transport() {
        return transport;
    }

    @Nullable
    DeliveryHandler handler() {
        return handler;
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

    /** Each property with its value, as the documentation lists them. */
    public Map<String, String> describe() {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("max-attempts", Integer.toString(maxAttempts));
        properties.put("base-delay", DispatchOptions.text(baseDelay));
        properties.put("max-delay", DispatchOptions.text(maxDelay));
        properties.put("max-in-flight", Integer.toString(maxInFlight));
        properties.put("handler-timeout", DispatchOptions.text(handlerTimeout));
        properties.put("tenant-prefixed-keys", Boolean.toString(tenantPrefixedKeys));
        return properties;
    }

    /** The defaults, each written once. Not thread-safe. */
    public static final class Builder {

        private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(1);
        private static final Duration LONGEST_TIMEOUT = Duration.ofHours(24);

        private final TopicName name;
        private @Nullable Transport transport;
        private @Nullable DeliveryHandler handler;
        private Duration handlerTimeout = Duration.ofMinutes(5);
        private int maxAttempts = 5;
        private Duration baseDelay = Duration.ofSeconds(10);
        private Duration maxDelay = Duration.ofMinutes(5);
        private @Nullable RetryPolicy retryPolicy;
        private Predicate<Throwable> permanent = failure -> false;
        private int maxInFlight = 100;
        private Set<String> tenants = Set.of();
        private boolean tenantPrefixedKeys;

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

        private void once() {
            if (transport != null || handler != null) {
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

        public Topic build() {
            check(
                    maxAttempts >= 1 && maxAttempts <= 1_000_000,
                    "max-attempts",
                    "must be 1 to 1000000, but is " + maxAttempts);
            check(
                    maxInFlight >= 1 && maxInFlight <= 10_000,
                    "max-in-flight",
                    "must be 1 to 10000, but is " + maxInFlight);
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
