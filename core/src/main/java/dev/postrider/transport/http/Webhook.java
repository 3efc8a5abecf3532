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
 * Delivers by POST to one URL, as a CloudEvent, signed as Standard Webhooks if a secret is given:
 * {@code Webhook.to(uri).signedWith("whsec_…")}. Each method returns a changed copy; every setting is checked when it is given.
 *
 * <p>Delivered means a 2xx status, whatever becomes of the response body. Redirects are never followed. Without {@link
 * #permanentStatus} these are rejected at once, because the same message would get the same answer: 501 and every 4xx except
 * 401, 403, 404, 407, 408, 409, 421, 423, 424, 425 and 429. Those, 3xx, the other 5xx, timeouts and connection errors are tried
 * again; a {@code Retry-After} is respected up to a day.
 *
 * <p>Private, loopback and otherwise special addresses are refused: written in the URL when {@link #to} is called, behind a
 * name each time before it is used, for every address the name has. A plain {@code http} connection then goes to the address
 * that was checked. For {@code https} the JDK's client looks the name up once more: a name that changes its answer in between
 * can lead a TLS handshake to a private address, but no request, since the peer there has no certificate for the name. See
 * {@code docs/webhooks.md}.
 *
 * <p>Immutable and thread-safe. Each instance that delivers keeps an HTTP client, with one thread and a connection pool, until
 * it is garbage: make one per endpoint and keep it. The stage returned by {@link #deliver} completes on a thread of that
 * client or on the JDK's timer thread: go on elsewhere with anything that blocks.
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
     * Delivers to a public address.
     *
     * @throws InvalidConfigurationException if the URL is not usable, or names an address that is not public
     */
    public static Webhook to(URI uri) {
        return of(Destination.open(uri));
    }

    /** Delivers to an address that may be private, such as a service of one's own. Never use it with a URL from outside. */
    public static Webhook toInternal(URI uri) {
        return of(Destination.internal(uri));
    }

    private static Webhook of(Destination destination) {
        WebhookSettings settings = new WebhookSettings(destination);
        return new Webhook(settings, Route.of(settings));
    }

    /**
     * Signs each request with this secret: {@code whsec_} for HMAC-SHA256, {@code whsk_} for Ed25519. Called again, signs with
     * the further secret too, so that a receiver can change from one to the other.
     */
    public Webhook signedWith(String secret) {
        Signer signer = Signer.of(secret);
        return with(changed -> changed.addSigner(signer));
    }

    /** Sends one JSON envelope ({@code application/cloudevents+json}) instead of the bare payload with {@code ce-} headers. */
    public Webhook structured() {
        return with(changed -> changed.structured = true);
    }

    /** A header for every request, such as {@code Authorization}. Comes before one of the same name in a message. */
    public Webhook header(String name, String value) {
        HttpHeader header = HttpHeader.configured(name, value);
        return with(changed -> changed.addHeader(header));
    }

    /** The CloudEvents source of messages that have none; {@code urn:postrider:} and the namespace unless said otherwise. */
    public Webhook source(URI source) {
        if (source.toString().isEmpty()) {
            throw new InvalidConfigurationException("webhook-source", "is empty");
        }
        return with(changed -> changed.source = source.toASCIIString());
    }

    /** The longest wait for a connection, part of the whole {@link #timeout()}; 5 seconds unless said otherwise. */
    public Webhook connectTimeout(Duration timeout) {
        Duration checked = WebhookSettings.checkedTimeout("webhook-connect-timeout", timeout);
        return with(changed -> changed.connectTimeout = checked);
    }

    /** The longest duration of the whole delivery, from looking up the name on; 15 seconds unless said otherwise. */
    public Webhook timeout(Duration timeout) {
        Duration checked = WebhookSettings.checkedTimeout("webhook-timeout", timeout);
        return with(changed -> changed.timeout = checked);
    }

    /** Which statuses other than 2xx make the message a dead letter at once. Takes the place of the whole default table. */
    public Webhook permanentStatus(IntPredicate permanent) {
        Objects.requireNonNull(permanent);
        return with(changed -> changed.permanent = permanent);
    }

    /** The trust and keys for TLS, such as those of a private authority; the JDK's default unless said otherwise. */
    public Webhook sslContext(SSLContext context) {
        return with(changed -> changed.sslContext = context);
    }

    /**
     * Sends through a proxy, which also looks up the name: keeping private addresses out is its duty then. Without this call
     * no proxy is used, whatever the system properties say.
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

    /** Made at the first delivery: a process that only writes messages needs neither the client nor its thread. */
    private synchronized HttpClient client() {
        if (client == null) {
            client = settings.newClient(route);
        }
        return client;
    }

    /** Names the host only: paths, queries and headers often hold tokens. */
    @Override
    public String toString() {
        return "Webhook to " + settings.destination;
    }
}
