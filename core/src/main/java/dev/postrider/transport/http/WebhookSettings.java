package dev.postrider.transport.http;

import dev.postrider.error.InvalidConfigurationException;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a webhook. They are written only while {@link Webhook} makes a changed copy, and only read
 * afterwards.
 */
final class WebhookSettings {

    private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);
    private static final int MAX_SIGNERS = 10;
    private static final int MAX_HEADERS = 50;

    final Destination destination;
    List<Signer> signers = List.of();
    List<HttpHeader> headers = List.of();
    boolean structured;

    @Nullable
    String source;

    Duration connectTimeout = Duration.ofSeconds(5);
    Duration timeout = Duration.ofSeconds(15);
    IntPredicate permanent = ResponseClassifier::permanentByDefault;

    @Nullable
    SSLContext sslContext;

    @Nullable
    InetSocketAddress proxy;

    InstantSource clock = InstantSource.system();

    WebhookSettings(Destination destination) {
        this.destination = destination;
    }

    WebhookSettings copy() {
        WebhookSettings copy = new WebhookSettings(destination);
        copy.signers = signers;
        copy.headers = headers;
        copy.structured = structured;
        copy.source = source;
        copy.connectTimeout = connectTimeout;
        copy.timeout = timeout;
        copy.permanent = permanent;
        copy.sslContext = sslContext;
        copy.proxy = proxy;
        copy.clock = clock;
        return copy;
    }

    void addSigner(Signer signer) {
        signers = added(signers, signer, MAX_SIGNERS, Signer.PROPERTY);
    }

    void addHeader(HttpHeader header) {
        headers = added(headers, header, MAX_HEADERS, HttpHeader.PROPERTY);
    }

    private static <T> List<T> added(List<T> list, T element, int limit, String property) {
        if (list.size() == limit) {
            throw new InvalidConfigurationException(property, "was given more than " + limit + " times");
        }
        List<T> longer = new ArrayList<>(list);
        longer.add(element);
        return List.copyOf(longer);
    }

    static Duration checkedTimeout(String property, Duration timeout) {
        if (timeout.compareTo(Duration.ofMillis(1)) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
            throw new InvalidConfigurationException(
                    property,
                    "must lie between 1 ms and " + LONGEST_TIMEOUT.toMinutes() + " minutes, but is " + timeout);
        }
        return timeout;
    }

    /**
     * Uses HTTP/1.1 on purpose. The end of a delivery closes its connection, which reliably stops the peer. The
     * HTTP/2 client of JDK 17 fails requests beyond the stream limit of the peer instead of queueing them.
     */
    HttpClient newClient(Route route) {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(connectTimeout)
                .proxy(route);
        if (sslContext != null) {
            builder.sslContext(sslContext);
        }
        return builder.build();
    }
}
