package dev.postrider.server;

import dev.postrider.dispatch.ExpiryPolicy;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.dispatch.Topic;
import dev.postrider.encryption.AesGcmPayloadCipher;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.TopicName;
import dev.postrider.store.TableOptions;
import dev.postrider.transport.http.Webhook;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The settings of one topic in a configuration file: its destination and its delivery options. */
final class TopicSettings {

    /** How a message is put into a request. */
    enum Mode {
        BINARY,
        STRUCTURED
    }

    static final Group<TopicSettings> GROUP = new Group<TopicSettings>()
            .with("url", (topic, value) -> topic.url = value)
            .with("allow-private-addresses", (topic, value) -> topic.privateAllowed = value.flag())
            .with("secret", (topic, value) -> topic.change(value, webhook -> signed(webhook, value)))
            .with("mode", (topic, value) -> topic.change(value, mode(value)))
            .with("timeout", (topic, value) -> topic.change(value, webhook -> webhook.timeout(value.duration())))
            .with(
                    "connect-timeout",
                    (topic, value) -> topic.change(value, webhook -> webhook.connectTimeout(value.duration())))
            .with("source", (topic, value) -> topic.change(value, webhook -> webhook.source(value.uri())))
            .with("tenants", (topic, value) -> topic.with(builder -> builder.tenants(names(value))))
            .with("max-attempts", (topic, value) -> topic.with(builder -> builder.maxAttempts(value.integer())))
            .with("base-delay", (topic, value) -> topic.with(builder -> builder.baseDelay(value.duration())))
            .with("max-delay", (topic, value) -> topic.with(builder -> builder.maxDelay(value.duration())))
            .with("max-in-flight", (topic, value) -> topic.with(builder -> builder.maxInFlight(value.integer())))
            .with("breaker-failures", (topic, value) -> topic.with(builder -> builder.breakerFailures(value.integer())))
            .with("breaker-pause", (topic, value) -> topic.with(builder -> builder.breakerPause(value.duration())))
            .with(
                    "tenant-prefixed-keys",
                    (topic, value) -> topic.with(builder -> builder.tenantPrefixedKeys(value.flag())))
            .with("ordered", (topic, value) -> topic.ordered = value.flag())
            .with("lanes", (topic, value) -> {
                topic.lanes = value.integer();
                topic.with(builder -> builder.lanes(value.integer()));
            })
            .with("on-failure", (topic, value) -> {
                FailurePolicy policy = value.oneOf(FailurePolicy.class);
                topic.with(builder -> builder.onFailure(policy));
            })
            .with(
                    "block-after-dead-letter",
                    (topic, value) -> topic.with(builder -> builder.blockAfterDeadLetter(value.flag())))
            .with("on-expiry", (topic, value) -> {
                ExpiryPolicy policy = value.oneOf(ExpiryPolicy.class);
                topic.with(builder -> builder.onExpiry(policy));
            })
            .with("archive", (topic, value) -> {
                TableOptions.Archive archive = value.oneOf(TableOptions.Archive.class);
                topic.with(builder -> builder.archive(archive));
            })
            .with(
                    "compress-payloads-above",
                    (topic, value) -> topic.with(builder -> builder.compressPayloadsAbove(value.integer())))
            .with("encryption-keys", (topic, value) -> topic.encrypted(value, value.text()))
            .with(
                    "encryption-keys-file",
                    (topic, value) -> topic.encrypted(value, Passwords.read(value.property(), value.text())));

    private record Change(Value value, UnaryOperator<Webhook> change) {}

    private final String name;
    private @Nullable Value url;
    private boolean privateAllowed;
    private @Nullable Boolean ordered;
    private @Nullable Integer lanes;
    private boolean encrypted;
    private final List<Change> webhookChanges = new ArrayList<>();
    private final List<Consumer<Topic.Builder>> topicChanges = new ArrayList<>();

    TopicSettings(String name) {
        this.name = name;
    }

    String name() {
        return name;
    }

    private String property(String suffix) {
        return "topic." + name + "." + suffix;
    }

    /** Adds a header to each request of this topic. */
    void header(String header, Value value) {
        change(value, webhook -> webhook.header(header, value.text()));
    }

    /** @param ring the keys, with which payloads are decrypted; never part of an error */
    private void encrypted(Value value, String ring) {
        if (encrypted) {
            throw value.invalid("is given beside another one: keep one of encryption-keys and encryption-keys-file");
        }
        encrypted = true;
        AesGcmPayloadCipher cipher = AesGcmPayloadCipher.parse(ring);
        with(builder -> builder.encryptPayloads(cipher));
    }

    private static UnaryOperator<Webhook> mode(Value value) {
        return value.oneOf(Mode.class) == Mode.STRUCTURED ? Webhook::structured : UnaryOperator.identity();
    }

    private void change(Value value, UnaryOperator<Webhook> change) {
        webhookChanges.add(new Change(value, change));
    }

    /**
     * Applies the change to a trial builder first, so that a value of the wrong type is reported under its own name.
     */
    private void with(Consumer<Topic.Builder> change) {
        change.accept(Topic.named("trial"));
        topicChanges.add(change);
    }

    private static Webhook signed(Webhook webhook, Value value) {
        Webhook signed = webhook;
        for (String secret : value.text().split("\\s+")) {
            signed = signed.signedWith(secret);
        }
        return signed;
    }

    private static Set<String> names(Value value) {
        if (value.text().isEmpty()) {
            throw value.invalid("is empty: leave it out to deliver the messages of all tenants");
        }
        Set<String> names = new LinkedHashSet<>();
        for (String name : value.text().split(",", -1)) {
            if (name.isBlank()) {
                throw value.invalid("has a comma without a name: write the names with one comma between them");
            }
            if (!names.add(name.strip())) {
                throw value.invalid("names '" + name.strip() + "' twice: keep one");
            }
        }
        return names;
    }

    /** Checks everything that can be checked without a database. */
    TopicSettings checked() {
        try {
            TopicName.of(name);
            Topic.Builder builder = Topic.named(name);
            declare(builder);
            builder.build();
            return this;
        } catch (InvalidMessageException e) {
            throw new InvalidConfigurationException("topic." + name, "is not a name for a topic: " + e.getMessage());
        } catch (InvalidConfigurationException e) {
            throw e.property().startsWith("topic.")
                    ? e
                    : new InvalidConfigurationException(property(e.property()), Value.problem(e));
        }
    }

    /** Makes the same check as a dispatcher, but before the database is used. */
    void checkTimeout(Duration lease) {
        Duration timeout = webhook().timeout();
        if (timeout.compareTo(lease.multipliedBy(9).dividedBy(10)) >= 0) {
            throw new InvalidConfigurationException(
                    property("timeout"), "(" + timeout + ") must be shorter than nine tenths of lease (" + lease + ")");
        }
    }

    /** Declares the topic as the file configures it. */
    void declare(Topic.Builder builder) {
        if (ordered != null && lanes != null && ordered != lanes > 0) {
            throw new InvalidConfigurationException(
                    property("ordered"), "is " + ordered + ", but " + property("lanes") + " is " + lanes);
        }
        if (ordered != null && ordered) {
            builder.ordered();
        }
        topicChanges.forEach(change -> change.accept(builder));
        builder.deliver(webhook());
    }

    private Webhook webhook() {
        Value destination = url;
        if (destination == null) {
            throw new InvalidConfigurationException(property("url"), "is missing: it names the destination");
        }
        Webhook webhook = open(destination);
        for (Change change : webhookChanges) {
            webhook = apply(change, webhook);
        }
        return webhook;
    }

    private Webhook open(Value destination) {
        URI uri = destination.uri();
        try {
            return privateAllowed ? Webhook.toInternal(uri) : Webhook.to(uri);
        } catch (InvalidConfigurationException e) {
            // The library's advice is for Java code; a configuration file uses a property instead.
            throw destination.invalid(Value.problem(e)
                    .replace("use Webhook.toInternal to", "set " + property("allow-private-addresses") + "=true to")
                    .replace("use header(\"Authorization\", …)", "set " + property("header.Authorization")));
        }
    }

    private static Webhook apply(Change change, Webhook webhook) {
        try {
            return change.change().apply(webhook);
        } catch (InvalidConfigurationException e) {
            throw change.value().invalid(Value.problem(e));
        }
    }
}
