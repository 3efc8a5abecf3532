package dev.postrider.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import javax.crypto.SecretKey;
import org.junit.jupiter.api.Test;

final class AesGcmTest {

    private final AesGcm aesGcm = new AesGcm();

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text);
    }

    private static SecretKey key(String text) {
        return Objects.requireNonNull(AesGcm.key(hex(text)));
    }

    /** The test cases 14 and 16 of the specification of GCM by McGrew and Viega: nonce, encrypted bytes, tag. */
    @Test
    void vectorsOfTheSpecificationAreDecrypted() throws GeneralSecurityException {
        assertThat(aesGcm.decrypt(
                        key("00".repeat(32)),
                        hex("00".repeat(12) + "cea7403d4d606b6e074ec5d3baf39d18" + "d0d1c8a799996bf0265b98b5d48ab919")))
                .isEqualTo(new byte[16]);
        String plain = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
        assertThat(aesGcm.decrypt(
                        key("feffe9928665731c6d6a8f9467308308".repeat(2)),
                        hex("cafebabefacedbaddecaf888"
                                + "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                                + "76fc6ece0f4e1768cddf8853bb2d551b"),
                        hex("feedfacedeadbeeffeedfacedeadbeef"),
                        hex("abaddad2")))
                .isEqualTo(hex(plain));
    }

    @Test
    void everyChangedOrMissingByteIsFound() throws GeneralSecurityException {
        SecretKey key = key("07".repeat(32));
        byte[] encrypted = aesGcm.encrypt(key, new byte[20], new byte[] {1, 2});

        assertThat(encrypted).hasSize(12 + 20 + 16);
        assertThat(aesGcm.decrypt(key, encrypted, new byte[] {1, 2})).isEqualTo(new byte[20]);
        assertThat(aesGcm.encrypt(key, new byte[20], new byte[] {1, 2}))
                .as("another nonce")
                .isNotEqualTo(encrypted);
        for (int i = 0; i < encrypted.length; i++) {
            byte[] changed = encrypted.clone();
            changed[i] ^= 1;
            assertThatThrownBy(() -> aesGcm.decrypt(key, changed, new byte[] {1, 2}))
                    .isInstanceOf(GeneralSecurityException.class);
            byte[] shorter = Arrays.copyOf(encrypted, i);
            assertThatThrownBy(() -> aesGcm.decrypt(key, shorter, new byte[] {1, 2}))
                    .isInstanceOf(GeneralSecurityException.class);
        }
        assertThatThrownBy(() -> aesGcm.decrypt(key, encrypted, new byte[] {1, 3}))
                .isInstanceOf(GeneralSecurityException.class);
        assertThatThrownBy(() -> aesGcm.decrypt(key("08".repeat(32)), encrypted, new byte[] {1, 2}))
                .isInstanceOf(GeneralSecurityException.class);
    }

    @Test
    void keyOfAnotherSizeIsNone() {
        assertThat(AesGcm.key(new byte[15])).isNull();
        assertThat(AesGcm.key(new byte[0])).isNull();
        assertThat(AesGcm.key(new byte[24])).isNotNull();
    }
}
