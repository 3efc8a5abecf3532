package dev.postrider.jdbc.outbox;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CompressedPayloadTest {

    private static final int LIMIT = 1024 * 1024;

    private static byte[] text(Random random, int size) {
        byte[] text = new byte[size];
        for (int i = 0; i < size; i++) {
            text[i] = (byte) ('a' + random.nextInt(1 + random.nextInt(26)));
        }
        return text;
    }

    @Test
    void payloadComesBackAsItWas() {
        Random random = new Random(31);
        for (int i = 0; i < 500; i++) {
            byte[] payload = text(random, 1 + random.nextInt(5000));
            CompressedPayload compressed = CompressedPayload.of(payload, 1);
            if (compressed != null) {
                assertThat(compressed.bytes().length).isLessThan(payload.length);
                assertThat(CompressedPayload.decompress(compressed.bytes(), LIMIT))
                        .isEqualTo(payload);
            }
        }
    }

    @Test
    void smallOrRandomPayloadStaysAsItIs() {
        byte[] random = new byte[5000];
        new Random(1).nextBytes(random);

        assertThat(CompressedPayload.of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".getBytes(US_ASCII), 0))
                .isNull();
        assertThat(CompressedPayload.of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".getBytes(US_ASCII), 32))
                .isNull();
        assertThat(CompressedPayload.of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".getBytes(US_ASCII), 31))
                .isNotNull();
        assertThat(CompressedPayload.of(random, 1)).isNull();
        for (int size = 0; size < 20; size++) {
            assertThat(CompressedPayload.of(Arrays.copyOf(random, size), 1)).isNull();
        }
    }

    /** What COMPRESS of MySQL and MariaDB makes of twenty letters a. */
    @Test
    void formatIsThatOfMySql() {
        byte[] column = HexFormat.of().parseHex("14000000789c4b4cc404004fa60795");

        assertThat(CompressedPayload.decompress(column, LIMIT))
                .isEqualTo("a".repeat(20).getBytes(US_ASCII));
    }

    @Test
    void damagedColumnIsRefusedAndNeedsNoMoreMemoryThanTheLimit() {
        Random random = new Random(7);
        byte[] column = Objects.requireNonNull(CompressedPayload.of(text(random, 3000), 1))
                .bytes();
        for (int i = 0; i < 2000; i++) {
            byte[] damaged = Arrays.copyOf(column, 1 + random.nextInt(column.length));
            damaged[random.nextInt(damaged.length)] ^= (byte) (1 + random.nextInt(255));
            try {
                assertThat(CompressedPayload.decompress(damaged, 4000)).hasSizeLessThanOrEqualTo(4000);
            } catch (IllegalArgumentException e) {
                assertThat(e).hasMessageContaining("payload");
            }
        }
        assertThatThrownBy(() -> CompressedPayload.decompress(column, 2999))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the payload has 3000 bytes when decompressed, and max-payload-bytes is 2999 on this node");
    }
}
