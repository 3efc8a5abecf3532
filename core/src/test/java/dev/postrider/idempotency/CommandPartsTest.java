package dev.postrider.idempotency;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreException;
import dev.postrider.store.CommandId;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The parts of commands that need no database. */
final class CommandPartsTest {

    @Test
    void fieldsOfAnIdentityDoNotRunIntoEachOther() {
        List<Command.Identity> different = List.of(
                new Command.Identity(null, null, "op", "k"),
                new Command.Identity("", null, "op", "k"),
                new Command.Identity(null, "", "op", "k"),
                new Command.Identity("a", "b", "op", "k"),
                new Command.Identity("ab", "", "op", "k"),
                new Command.Identity("a", "b", "opk", ""),
                new Command.Identity("a", "b", "op", "K"),
                new Command.Identity("a", "b", "op", "k "));
        Set<CommandId> ids = new HashSet<>();
        different.forEach(identity -> ids.add(Request.id(identity)));
        assertThat(ids).hasSize(different.size());
        assertThat(Request.id(different.get(3))).isEqualTo(Request.id(new Command.Identity("a", "b", "op", "k")));
    }

    @Test
    void cipherReadsWhatAnyOfItsKeysWroteAndNothingThatWasChanged() {
        byte[] context = "row 1".getBytes(UTF_8);
        byte[] plain = "result".getBytes(UTF_8);
        AesGcmCipher old = AesGcmCipher.with(1, new byte[16]);
        byte[] sealed = old.encrypt(plain, context);
        AesGcmCipher both = AesGcmCipher.with(2, key(32)).reading(1, new byte[16]);

        assertThat(both.decrypt(sealed, context)).isEqualTo(plain);
        assertThat(both.decrypt(both.encrypt(plain, context), context)).isEqualTo(plain);
        assertThat(old.encrypt(plain, context)).as("a nonce of its own").isNotEqualTo(sealed);
        assertThatThrownBy(() -> both.decrypt(sealed, "row 2".getBytes(UTF_8))).isInstanceOf(StoreException.class);
        for (int i = 0; i < sealed.length; i++) {
            byte[] changed = sealed.clone();
            changed[i] ^= 1;
            assertThatThrownBy(() -> both.decrypt(changed, context)).isInstanceOf(StoreException.class);
        }
        assertThatThrownBy(() -> both.decrypt(new byte[3], context)).isInstanceOf(StoreException.class);
        assertThatThrownBy(() -> AesGcmCipher.with(1, new byte[15])).isInstanceOf(InvalidConfigurationException.class);
        assertThat(both.toString()).doesNotContain("7, 7");
    }

    private static byte[] key(int length) {
        byte[] key = new byte[length];
        Arrays.fill(key, (byte) 7);
        return key;
    }

    @Test
    void requestIsComparedInTheVersionItWasStoredIn() {
        Fingerprints plain = new Fingerprints(Map.of());
        Fingerprints secret = new Fingerprints(Map.of(2, key(16)));
        byte[] request = "request".getBytes(UTF_8);

        assertThat(secret.matches(plain.of(request), request)).isTrue();
        assertThat(secret.of(request)).isNotEqualTo(plain.of(request));
        assertThat(secret.matches(secret.of(request), "other".getBytes(UTF_8))).isFalse();
        assertThatThrownBy(() -> plain.matches(secret.of(request), request))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("2");
    }

    @Test
    void retryIsAskedForAfterTheUsualTimeWithinTheLease() {
        Pace pace = new Pace(Surroundings.system()::chance);
        Duration minute = Duration.ofMinutes(1);
        assertThat(pace.retryAfter("op", minute)).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1250));
        pace.took("op", Duration.ofSeconds(20).toNanos());
        assertThat(pace.retryAfter("op", minute)).isBetween(Duration.ofSeconds(15), Duration.ofSeconds(25));
        assertThat(pace.retryAfter("op", Duration.ofSeconds(4)))
                .isBetween(Duration.ofSeconds(3), Duration.ofSeconds(5));
        assertThat(pace.retryAfter("op", Duration.ZERO)).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1250));
    }

    @Test
    void stepsAreReadAsTheyWereKept() {
        StepMemory memory = StepMemory.of(null);
        memory.add("one", new StepMemory.Step("text", ByteBuffer.wrap("first".getBytes(UTF_8))));
        memory.add("two", new StepMemory.Step("nothing", null));
        StepMemory read = StepMemory.of(memory.stored());

        assertThat(read.find("one")).isEqualTo(memory.find("one"));
        assertThat(read.find("two")).isEqualTo(new StepMemory.Step("nothing", null));
        assertThat(read.find("three")).isNull();
        assertThatThrownBy(() -> StepMemory.of(new byte[] {1, 0, 0, 9})).isInstanceOf(StoreException.class);
    }
}
