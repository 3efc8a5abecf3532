package dev.postrider.idempotency.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ResponseCodecTest {

    private final ResponseCodec codec = new ResponseCodec(new KeySettings("test", true).replayed);

    @Test
    void answerComesBackWithTheHeadersThatMayBeReplayed() {
        KeyedResponse answer = KeyedResponse.of(
                201,
                Map.of(
                        "location", List.of("/payments/7"),
                        "Link", List.of("</a>", "</b>"),
                        "Set-Cookie", List.of("session=secret"),
                        "X-Request-Id", List.of("1")),
                "größer".getBytes(UTF_8));
        KeyedResponse back = codec.decode(codec.encode(answer));
        assertThat(back.status()).isEqualTo(201);
        assertThat(back.headers())
                .isEqualTo(Map.of("Link", List.of("</a>", "</b>"), "location", List.of("/payments/7")));
        assertThat(new String(back.body(), UTF_8)).isEqualTo("größer");
        assertThat(back.isOmitted()).isFalse();
    }

    @Test
    void shortenedAnswerKeepsStatusAndHeaders() {
        KeyedResponse answer = KeyedResponse.json(201, "x".repeat(1000)).header("Location", "/payments/7");
        KeyedResponse back = codec.decode(codec.encode(codec.shortened(answer)));
        assertThat(back.status()).isEqualTo(201);
        assertThat(back.header("Location")).isEqualTo("/payments/7");
        assertThat(back.body()).isEmpty();
        assertThat(back.isOmitted()).isTrue();
    }

    /** The headers are larger than the limit for results. */
    @Test
    void answerThatIsShortenedOnceMoreKeepsItsStatus() {
        KeyedResponse answer = KeyedResponse.text(402, "no").header("Location", "/payments/7");
        KeyedResponse back = codec.decode(codec.encode(codec.shortened(codec.shortened(answer))));
        assertThat(back.status()).isEqualTo(402);
        assertThat(back.headers()).isEmpty();
        assertThat(back.isOmitted()).isTrue();
    }

    @Test
    void storedFormStaysWhatItIs() {
        byte[] stored = {
            1, 0, 0, (byte) 201, 0, 1, 0, 0, 0, 4, 'L', 'i', 'n', 'k', 0, 0, 0, 2, '<', '>', 0, 0, 0, 2, '{', '}'
        };
        KeyedResponse answer = KeyedResponse.of(201, Map.of("Link", List.of("<>")), "{}".getBytes(UTF_8));
        assertThat(codec.encode(answer)).isEqualTo(stored);
        assertThat(codec.decode(stored).header("link")).isEqualTo("<>");
        assertThat(codec.name()).isEqualTo("http-response");
    }

    @Test
    void whatIsNotAnAnswerIsRefused() {
        byte[] whole = codec.encode(KeyedResponse.json(200, "{}"));
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> codec.decode(cut)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> codec.decode(Arrays.copyOf(whole, whole.length + 1)))
                .isInstanceOf(IllegalArgumentException.class);
        byte[] newer = whole.clone();
        newer[0] = 2;
        assertThatThrownBy(() -> codec.decode(newer)).hasMessageContaining("version 2");
    }
}
