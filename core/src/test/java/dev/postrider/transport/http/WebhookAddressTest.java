package dev.postrider.transport.http;

import static dev.postrider.transport.http.Deliveries.deliver;
import static dev.postrider.transport.http.Deliveries.errorOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.http.Receiver.Received;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WebhookAddressTest {

    private final Receiver receiver = new Receiver();

    @AfterEach
    void stop() {
        receiver.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://127.0.0.1/",
                "http://127.255.1.9:8080/",
                "http://0.0.0.0/",
                "http://10.1.2.3/",
                "https://172.31.0.1/",
                "http://192.168.0.1/",
                "http://169.254.169.254/latest/meta-data/",
                "http://100.64.0.1/",
                "http://[::1]/",
                "http://[::]/",
                "http://[::ffff:127.0.0.1]/",
                "http://[::127.0.0.1]/",
                "http://[fe80::1]/",
                "http://[fd00::1]/",
                "http://[64:ff9b::7f00:1]/",
                "http://[2002:7f00:1::]/",
                "http://localhost/",
                "http://LOCALHOST:80/",
                "http://localhost./",
                "http://api.localhost/"
            })
    void privateAddressesInTheUrlAreRefusedAtOnceAndAllowedOnRequest(String url) {
        assertThatThrownBy(() -> Webhook.to(URI.create(url)))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageStartingWith("webhook-url names ")
                .hasMessageContaining("not a public address");
        assertThatCode(() -> Webhook.toInternal(URI.create(url))).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://0/",
                "http://2130706433/",
                "http://0x7f.1/",
                "http://0x7f000001/",
                "http://127.1/",
                "http://0177.0.0.1/",
                "http://127.0.0.01/",
                "http://127.0.0.1./",
                "http://256.1.1.1/",
                "http://a.0x1/",
                "ftp://example.com/",
                "file:///etc/passwd",
                "mailto:a@example.com",
                "/relative",
                "http:///path",
                "http:opaque",
                "http://exämple.com/",
                "http://my_host/",
                "http://example.com:0/",
                "http://example.com:65536/",
                "https://example.com/#fragment",
                "http://user:hunter2@example.com/",
                "http://example.com:hunter2@127.0.0.1/",
                "http://hunter2@my_host/"
            })
    void urlsThatAreUnclearAreRefusedEvenWithinOnesOwnNetwork(String url) {
        assertThatThrownBy(() -> Webhook.toInternal(URI.create(url)))
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.property()).isEqualTo("webhook-url"))
                .hasMessageNotContaining("hunter2");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://example.com",
                "HTTPS://EXAMPLE.com:8443/a/b?c=d",
                "http://93.184.215.14/",
                "http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
                "https://xn--exmple-cua.com/",
                "https://1.example.com/",
                "https://example.com./"
            })
    void publicUrlsAreTaken(String url) {
        assertThatCode(() -> Webhook.to(URI.create(url))).doesNotThrowAnyException();
    }

    @Test
    @SuppressWarnings("NullAway")
    void missingPartsAreRefusedByName() {
        Webhook webhook = Webhook.toInternal(URI.create("http://localhost"));
        assertThatThrownBy(() -> Webhook.to(null)).hasMessageStartingWith("webhook-url ");
        assertThatThrownBy(() -> webhook.header("A", null)).hasMessageStartingWith("webhook-header ");
        assertThatThrownBy(() -> webhook.header(null, "a")).hasMessageStartingWith("webhook-header ");
        assertThatThrownBy(() -> webhook.source(null)).hasMessageStartingWith("webhook-source ");
    }

    @Test
    void aNameThatLeadsToAPrivateAddressIsNotUsedAndTriedAgain() {
        DeliveryResult result = deliver(webhook("http", PublicAddress::is, "10.0.0.5"));

        assertThat(result).isInstanceOf(DeliveryResult.Failed.class);
        assertThat(errorOf(result))
                .contains("hooks.example leads to 10.0.0.5, which is not a public address: nothing was sent");
        assertThat(receiver.received()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "https"})
    void oneBadAddressAmongGoodOnesIsEnoughToRefuse(String scheme) {
        DeliveryResult result = deliver(webhook(scheme, PublicAddress::is, "93.184.215.14", "::1"));

        assertThat(errorOf(result)).contains("not a public address");
    }

    @Test
    void anUnknownNameIsTriedAgain() {
        Webhook webhook = webhook(settings("http"), host -> {
            throw new UnknownHostException(host);
        });

        assertThat(deliver(webhook)).isEqualTo(DeliveryResult.failed("IOException: the host hooks.example is unknown"));
    }

    /** The name does not exist: only a connection to the very address that was checked can reach the receiver. */
    @Test
    void plainHttpConnectsToTheAddressThatWasChecked() {
        Webhook webhook = webhook("http", InetAddress::isLoopbackAddress, "127.0.0.1");

        assertThat(deliver(webhook)).isEqualTo(DeliveryResult.delivered());

        Received request = receiver.only();
        assertThat(request.header("Host")).isEqualTo("hooks.example:" + receiver.port());
        assertThat(request.target().getPath()).isEqualTo("/hook");
        assertThat(request.target().getQuery()).isEqualTo("x=1");
        assertThat(request.text()).isEqualTo("{\"n\": 1}");
    }

    @Test
    void anAnswerThatChangesBetweenDeliveriesIsCheckedAgain() {
        String[] answers = {"127.0.0.1", "10.0.0.5"};
        int[] asked = {0};
        WebhookSettings settings = settings("http");
        Webhook webhook = new Webhook(
                settings,
                new Route(
                        settings,
                        host -> new InetAddress[] {InetAddress.getByName(answers[asked[0]++])},
                        InetAddress::isLoopbackAddress));

        assertThat(deliver(webhook)).isEqualTo(DeliveryResult.delivered());
        assertThat(deliver(webhook)).isInstanceOf(DeliveryResult.Failed.class);
        assertThat(receiver.received()).hasSize(1);
    }

    @Test
    void aNameLookedUpAfterTheDeadlineSendsNothing() throws Exception {
        CountDownLatch deadlinePassed = new CountDownLatch(1);
        CompletableFuture<Thread> lookingUp = new CompletableFuture<>();
        WebhookSettings settings = settings("http");
        settings.timeout = Duration.ofSeconds(2);
        Webhook webhook = new Webhook(
                settings,
                new Route(
                        settings,
                        host -> {
                            lookingUp.complete(Thread.currentThread());
                            try {
                                deadlinePassed.await();
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            }
                            return new InetAddress[] {InetAddress.getLoopbackAddress()};
                        },
                        InetAddress::isLoopbackAddress));

        assertThat(deliver(webhook)).isEqualTo(DeliveryResult.failed("no answer within 2000 ms"));
        deadlinePassed.countDown();
        awaitEndOfWork(lookingUp.get(60, TimeUnit.SECONDS));

        assertThat(receiver.received()).isEmpty();
    }

    private static void awaitEndOfWork(Thread thread) throws InterruptedException {
        if (thread instanceof ForkJoinWorkerThread) {
            assertThat(ForkJoinPool.commonPool().awaitQuiescence(60, TimeUnit.SECONDS))
                    .isTrue();
        } else {
            thread.join(60_000);
        }
    }

    @Test
    void anExplicitProxyIsUsedAndLooksUpTheName() {
        Webhook webhook = Webhook.to(URI.create("http://hooks.example/hook"))
                .proxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), receiver.port()));

        assertThat(deliver(webhook)).isEqualTo(DeliveryResult.delivered());
        assertThat(receiver.only().target()).hasToString("http://hooks.example/hook");
    }

    @Test
    void addressesOfOnesOwnNetworkGetTheUsualRequestLine() {
        deliver(Webhook.toInternal(receiver.uri()));

        assertThat(receiver.only().target()).hasToString("/hook?x=1");
    }

    private WebhookSettings settings(String scheme) {
        return new WebhookSettings(
                Destination.open(URI.create(scheme + "://hooks.example:" + receiver.port() + "/hook?x=1")));
    }

    private Webhook webhook(WebhookSettings settings, Route.Lookup lookup) {
        return new Webhook(settings, new Route(settings, lookup, PublicAddress::is));
    }

    private Webhook webhook(String scheme, Predicate<InetAddress> allowed, String... addresses) {
        WebhookSettings settings = settings(scheme);
        return new Webhook(
                settings,
                new Route(
                        settings,
                        host -> {
                            InetAddress[] found = new InetAddress[addresses.length];
                            for (int i = 0; i < found.length; i++) {
                                found[i] = InetAddress.getByName(addresses[i]);
                            }
                            return found;
                        },
                        allowed));
    }
}
