package dev.postrider.transport.http;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Delivers messages by POST to one URL, as CloudEvents, and signs them as Standard Webhooks if a secret is given:
 * {@code Webhook.to(uri).signedWith("whsec_…")}. Each configuration method returns a changed copy, and throws
 * {@link InvalidConfigurationException} for an invalid value.
 *
 * <p>A 2xx status means delivered, even if reading the response body fails. Redirects are never followed. Without
 * {@link #permanentStatus}, the statuses 501 and every 4xx except 401, 403, 404, 407, 408, 409, 421, 423, 424, 425
 * and 429 are rejected without a retry, because the same message would get the same response. Those exceptions, 3xx,
 * the other 5xx, timeouts and connection errors are retried. A {@code Retry-After} header is respected up to one day.
 *
 * <p>Private, loopback and other special addresses are refused. An address in the URL is checked when {@link #to} is
 * called. A host name is looked up before each delivery, and all its addresses are checked. A plain {@code http}
 * connection then goes to the checked address. For {@code https}, the HTTP client of the JDK looks up the name again.
 * If the DNS answer changes in between, a TLS handshake can reach a private address, but no request is sent, because
 * the peer has no certificate for the name. See {@code docs/webhooks.md}.
 *
 * <p>Immutable and thread-safe. Each instance that delivers keeps an HTTP client with one thread and a connection
 * pool until it is garbage collected. Create one instance per endpoint and keep it. The stage returned by
 * {@link #deliver} completes on a thread of this client or on the timer thread of the JDK, so run blocking code on
 * another thread.
 */
public final class Webhook implements Transport {

    private final WebhookSettings settings;
    private final Route route;
    private @Nullable HttpClient client;

    Webhook(WebhookSettings settings, Route route) {
        this.settings = settings;
        this.route = route;
    }

    /**
     * Returns a webhook to a public address.
     *
     * @throws InvalidConfigurationException if the URL is not valid, or names an address that is not public
     */
    public static Webhook to(URI uri) {
        return of(Destination.open(uri));
    }

    /**
     * Returns a webhook to an address that may be private, such as an internal service. Never use it with a URL from
     * outside.
     *
     * @throws InvalidConfigurationException if the URL is not valid
     */
    public static Webhook toInternal(URI uri) {
        return of(Destination.internal(uri));
    }

    private static Webhook of(Destination destination) {
        WebhookSettings settings = new WebhookSettings(destination);
        return new Webhook(settings, Route.of(settings));
    }

    /**
     * Signs each request with this secret: {@code whsec_} for HMAC-SHA256, {@code whsk_} for Ed25519. A further call
     * adds a signature with another secret, so that a receiver can change from one secret to the other. At most 10
     * secrets.
     */
    public Webhook signedWith(String secret) {
        Signer signer = Signer.of(secret);
        return with(changed -> changed.addSigner(signer));
    }

    /**
     * Sends one JSON envelope ({@code application/cloudevents+json}) instead of the payload with {@code ce-} headers.
     */
    public Webhook structured() {
        return with(changed -> changed.structured = true);
    }

    /**
     * Adds a header to every request, such as {@code Authorization}. It overrides a message header of the same name.
     * At most 50 headers.
     */
    public Webhook header(String name, String value) {
        HttpHeader header = HttpHeader.configured(name, value);
        return with(changed -> changed.addHeader(header));
    }

    /**
     * Sets the CloudEvents source of messages without one. The default is {@code urn:postrider:} and the namespace.
     */
    public Webhook source(URI source) {
        if (source == null || source.toString().isEmpty()) {
            throw new InvalidConfigurationException("webhook-source", "is missing or empty");
        }
        return with(changed -> changed.source = source.toASCIIString());
    }

    /** Sets the longest wait for a connection, as part of the whole {@link #timeout()}. The default is 5 seconds. */
    public Webhook connectTimeout(Duration timeout) {
        Duration checked = WebhookSettings.checkedTimeout("webhook-connect-timeout", timeout);
        return with(changed -> changed.connectTimeout = checked);
    }

    /** Sets the longest duration of the whole delivery, including the DNS lookup. The default is 15 seconds. */
    public Webhook timeout(Duration timeout) {
        Duration checked = WebhookSettings.checkedTimeout("webhook-timeout", timeout);
        return with(changed -> changed.timeout = checked);
    }

    /**
     * Sets which statuses other than 2xx make the message a dead letter without a retry. It replaces the whole
     * default table.
     */
    public Webhook permanentStatus(IntPredicate permanent) {
        Objects.requireNonNull(permanent);
        return with(changed -> changed.permanent = permanent);
    }

    /**
     * Sets the trust and keys for TLS, such as those of a private certificate authority. The default is that of the
     * JDK.
     */
    public Webhook sslContext(SSLContext context) {
        return with(changed -> changed.sslContext = context);
    }

    /**
     * Sends through a proxy, which also looks up the host name. The proxy must then block private addresses. Without
     * this call no proxy is used, even if the system properties name one.
     */
    public Webhook proxy(InetSocketAddress proxy) {
        return with(changed -> changed.proxy = proxy);
    }

    Webhook clock(InstantSource clock) {
        return with(changed -> changed.clock = clock);
    }

    private Webhook with(Consumer<WebhookSettings> change) {
        WebhookSettings copy = settings.copy();
        change.accept(copy);
        return new Webhook(copy, Route.of(copy));
    }

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        return new Attempt(settings, route, client()).run(delivery);
    }

    @Override
    public Duration timeout() {
        return settings.timeout;
    }

    /**
     * Creates the client at the first delivery: a process that only writes messages needs neither the client nor its
     * thread.
     */
    private synchronized HttpClient client() {
        if (client == null) {
            client = settings.newClient(route);
        }
        return client;
    }

    /** Returns the host only: paths, queries and headers often contain tokens. */
    @Override
    public String toString() {
        return "Webhook to " + settings.destination;
    }
}
