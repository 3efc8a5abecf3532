package dev.postrider.transport.http;

import static dev.postrider.transport.http.Deliveries.deliver;
import static dev.postrider.transport.http.Deliveries.errorOf;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.transport.DeliveryResult;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Peers that break the rules, on purpose or not: each delivery ends in time, with a result, and leaves no connection open. */
@Timeout(120)
class MisbehavingPeerTest {

    /** To be waited for in vain, and yet long enough to connect and to hear what the peer does say. */
    private static final Duration SHORT = Duration.ofSeconds(2);

    private static Webhook to(RawPeer peer) {
        return Webhook.toInternal(peer.uri()).timeout(SHORT);
    }

    /** To a peer whose answer ends the delivery. */
    private static Webhook patientlyTo(RawPeer peer) {
        return Webhook.toInternal(peer.uri()).timeout(Duration.ofSeconds(30));
    }

    @Test
    void silenceIsAFailureAndHangsUp() throws Exception {
        try (RawPeer peer = RawPeer.saying("")) {
            DeliveryResult result = deliver(to(peer));

            assertThat(result).isEqualTo(DeliveryResult.failed("no answer within 2000 ms"));
            assertThat(peer.wasLeft()).isTrue();
        }
    }

    @Test
    void aStatusLineThatNeverEndsIsAFailureAndHangsUp() throws Exception {
        try (RawPeer peer = RawPeer.saying("HTTP/1.1 200 OK\r\nX-Slow: ")) {
            assertThat(deliver(to(peer))).isInstanceOf(DeliveryResult.Failed.class);
            assertThat(peer.wasLeft()).isTrue();
        }
    }

    @Test
    void aBodyThatNeverEndsDoesNotHoldUpADelivery() throws Exception {
        try (RawPeer peer = RawPeer.saying("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")) {
            assertThat(deliver(to(peer))).isEqualTo(DeliveryResult.delivered());
            assertThat(peer.wasLeft()).isTrue();
        }
    }

    @Test
    void aFailureWithABodyThatNeverEndsKeepsItsStatusAndWhatItSaid() throws Exception {
        try (RawPeer peer = RawPeer.saying(
                "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\nRetry-After: 9\r\n\r\n4\r\nbusy\r\n")) {
            assertThat(deliver(to(peer))).isEqualTo(DeliveryResult.failed("HTTP 503: busy", Duration.ofSeconds(9)));
            assertThat(peer.wasLeft()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 500})
    void aBodyWithoutLimitIsNotReadWithoutLimit(int status) throws Exception {
        AtomicLong written = new AtomicLong();
        byte[] junk = "x".repeat(16 * 1024).getBytes(US_ASCII);
        try (RawPeer peer = new RawPeer((in, out, socket) -> {
            RawPeer.readHead(in);
            write(out, "HTTP/1.1 " + status + " Much\r\nContent-Length: 1073741824\r\n\r\n");
            while (written.addAndGet(junk.length) < 1 << 30) {
                out.write(junk);
            }
        })) {
            DeliveryResult result = deliver(patientlyTo(peer));

            assertThat(result instanceof DeliveryResult.Delivered).isEqualTo(status == 200);
            assertThat(peer.wasLeft()).isTrue();
            // 64 KiB are read; the rest of what the peer could write sits in socket buffers.
            assertThat(written.get()).isLessThan(64 << 20);
        }
    }

    @Test
    void aResetAfterTheStatusDoesNotUndoIt() throws Exception {
        try (RawPeer peer = new RawPeer((in, out, socket) -> {
            RawPeer.readHead(in);
            write(out, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx");
            socket.setSoLinger(true, 0);
        })) {
            DeliveryResult result = deliver(patientlyTo(peer));

            // The reset may overtake the status on its way; then it is a failure, and never an exception.
            assertThat(result).isInstanceOfAny(DeliveryResult.Delivered.class, DeliveryResult.Failed.class);
        }
    }

    @Test
    void aBodyCutShortDoesNotUndoTheStatus() throws Exception {
        try (RawPeer peer = new RawPeer((in, out, socket) -> {
            RawPeer.readHead(in);
            write(out, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx");
        })) {
            assertThat(deliver(patientlyTo(peer))).isEqualTo(DeliveryResult.delivered());
        }
    }

    @Test
    void hangingUpWithoutAnAnswerIsAFailure() throws Exception {
        try (RawPeer peer = new RawPeer((in, out, socket) -> RawPeer.readHead(in))) {
            assertThat(deliver(patientlyTo(peer))).isInstanceOf(DeliveryResult.Failed.class);
        }
    }

    @Test
    void invalidChunksAfterAStatusKeepTheStatus() throws Exception {
        String head = "HTTP/1.1 %s\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\nboo\r\n";
        try (RawPeer peer = RawPeer.saying(head.formatted("200 OK"))) {
            assertThat(deliver(patientlyTo(peer))).isEqualTo(DeliveryResult.delivered());
        }
        try (RawPeer peer = RawPeer.saying(head.formatted("500 No"))) {
            assertThat(errorOf(deliver(patientlyTo(peer)))).startsWith("HTTP 500");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\r\n", "Content-Length: 0\r\n\r\n", "\r\nhello"})
    void noContentIsDeliveredWhateverFollowsIt(String rest) throws Exception {
        try (RawPeer peer = RawPeer.saying("HTTP/1.1 204 No Content\r\n" + rest)) {
            assertThat(deliver(patientlyTo(peer))).isEqualTo(DeliveryResult.delivered());
        }
    }

    /** The JDK's client refuses this contradiction before anybody sees the status. */
    @Test
    void noContentThatAnnouncesContentIsAFailure() throws Exception {
        try (RawPeer peer = RawPeer.saying("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello")) {
            assertThat(deliver(patientlyTo(peer))).isInstanceOf(DeliveryResult.Failed.class);
            assertThat(peer.wasLeft()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SSH-2.0-OpenSSH_9.2\r\n\r\n",
                "HTTP/1.1 2xx Maybe\r\n\r\n",
                "HTTP/1.1 -200 No\r\n\r\n",
                "\u0000\r\n\r\n"
            })
    void nonsenseIsAFailure(String nonsense) throws Exception {
        try (RawPeer peer = RawPeer.saying(nonsense)) {
            assertThat(deliver(patientlyTo(peer))).isInstanceOf(DeliveryResult.Failed.class);
            assertThat(peer.wasLeft()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 102, 103})
    void aFloodOfInterimResponsesIsNoDelivery(int status) throws Exception {
        try (RawPeer peer = new RawPeer((in, out, socket) -> {
            RawPeer.readHead(in);
            while (true) {
                write(out, "HTTP/1.1 " + status + " Wait\r\n\r\n");
            }
        })) {
            assertThat(deliver(to(peer))).isInstanceOf(DeliveryResult.Failed.class);
            assertThat(peer.wasLeft()).isTrue();
        }
    }

    @Test
    void unauthorizedWithoutAChallengeIsAFailureWithItsStatus() throws Exception {
        try (RawPeer peer = RawPeer.saying("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n")) {
            assertThat(deliver(patientlyTo(peer))).isEqualTo(DeliveryResult.failed("HTTP 401"));
        }
    }

    private static void write(OutputStream out, String text) throws java.io.IOException {
        out.write(text.getBytes(US_ASCII));
        out.flush();
    }
}
