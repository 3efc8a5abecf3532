package dev.postrider.idempotency;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreException;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandOutcome;
import dev.postrider.internal.store.CommandOwner;
import dev.postrider.internal.store.CommandRecord;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
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
        different.forEach(identity -> ids.add(CommandRequest.id(identity)));
        assertThat(ids).hasSize(different.size());
        assertThat(CommandRequest.id(different.get(3)))
                .isEqualTo(CommandRequest.id(new Command.Identity("a", "b", "op", "k")));
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
        RetryAfterEstimate pace = new RetryAfterEstimate(Platform.system()::chance);
        Duration minute = Duration.ofMinutes(1);
        assertThat(pace.retryAfter("op", minute)).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1250));
        pace.took("op", Duration.ofSeconds(20).toNanos());
        assertThat(pace.retryAfter("op", minute)).isBetween(Duration.ofSeconds(15), Duration.ofSeconds(25));
        assertThat(pace.retryAfter("op", Duration.ofSeconds(4)))
                .isBetween(Duration.ofSeconds(3), Duration.ofSeconds(5));
        assertThat(pace.retryAfter("op", Duration.ZERO)).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1250));
    }

    /** It was committed: that it lasts longer than nanoseconds can count must not turn it into a failure. */
    @Test
    void commandThatLastsForCenturiesIsRemembered() {
        CompletedCommandCache ended = new CompletedCommandCache(10_000, () -> 0);
        SharedCall.CallKey route = new SharedCall.CallKey(
                CommandRequest.id(new Command.Identity(null, null, "op", "k")),
                new Fingerprints(Map.of()).of(new byte[1]));
        Duration ever = ChronoUnit.FOREVER.getDuration();
        ended.add(route, row(route, ever), 0);
        assertThat(ended.find(route)).isPresent();
        assertThat(new RetryAfterEstimate(Platform.system()::chance).retryAfter("op", ever))
                .isBetween(Duration.ofSeconds(1), Duration.ofMillis(1250));
    }

    private static CommandRecord row(SharedCall.CallKey route, Duration left) {
        return new CommandRecord(
                new CommandOwner(route.id(), new UUID(0, 1), 1),
                new UUID(0, 2),
                CommandRecord.State.COMPLETED,
                route.print(),
                1,
                false,
                new CommandRecord.Ended(false, CommandOutcome.StoredResult.without(CommandOutcome.ResultKind.NONE), ""),
                null,
                Duration.ZERO,
                left,
                left,
                Instant.EPOCH);
    }

    @Test
    void timesThatCannotWorkAreRefusedBeforeAnythingIsClaimed() {
        Duration ever = ChronoUnit.FOREVER.getDuration();
        Duration nothing = Duration.ofNanos(1);
        refused("command.lease", options -> options.lease(ever));
        refused("command.lease", options -> options.lease(nothing));
        refused("command.max-run-time", options -> options.maxRunTime(ever));
        refused("command.max-run-time", options -> options.maxRunTime(nothing));
        refused("command.result-ttl", options -> options.resultTtl(nothing).keyTtl(Duration.ofDays(1)));
        refused(
                "command.result-ttl",
                options -> options.resultTtl(Duration.ofDays(365 * 300)).keyTtl(ever));
        refused(
                "command.key-ttl",
                options -> options.resultTtl(Duration.ofDays(1)).keyTtl(Duration.ofDays(365 * 300)));
        refused(
                "command.key-ttl",
                options -> options.resultTtl(Duration.ofDays(2)).keyTtl(Duration.ofDays(1)));
        refused("command.join-wait", options -> options.joinWait(Duration.ofDays(30)));
        refused("command.wait-for-result", options -> options.waitForResult(ever));
        refused("command.wait-for-result", options -> options.waitForResult(nothing.negated()));
        Command.Options.defaults()
                .with(options -> options.lease(Duration.ofDays(365))
                        .maxRunTime(Duration.ofDays(365))
                        .resultTtl(Duration.ofDays(9000))
                        .keyTtl(Duration.ofDays(9000))
                        .joinWait(Duration.ofDays(1))
                        .waitForResult(Duration.ofDays(1)));
    }

    /** As UTF-8 they would all be a question mark, and two requests one. */
    @Test
    void fingerprintThatWouldLoseCharactersIsRefused() {
        Command.Builder builder = Command.named("op").anyCaller().key("k");
        for (String lossy : List.of("\uD800", "a\uDC00b", "\uDC00\uD800")) {
            assertThatThrownBy(() -> builder.fingerprint(lossy))
                    .isInstanceOfSatisfying(
                            InvalidCommandException.class,
                            refusal -> assertThat(refusal.field()).isEqualTo("fingerprint"));
        }
        assertThat(builder.fingerprint("\uD83D\uDE00?\u0000").returningNothing().fingerprint())
                .isEqualTo("\uD83D\uDE00?\u0000".getBytes(UTF_8));
    }

    private static void refused(String property, Consumer<Command.Options.Builder> change) {
        assertThatThrownBy(() -> Command.named("op")
                        .anyCaller()
                        .key("k")
                        .fingerprint("f")
                        .with(change)
                        .returningNothing())
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        refusal -> assertThat(refusal.property()).isEqualTo(property));
    }

    @Test
    void stepsAreReadAsTheyWereKept() {
        StepResults memory = StepResults.of(null);
        memory.add("one", new StepResults.StepResult("text", ByteBuffer.wrap("first".getBytes(UTF_8))));
        memory.add("two", new StepResults.StepResult("nothing", null));
        StepResults read = StepResults.of(memory.stored());

        assertThat(read.find("one")).isEqualTo(memory.find("one"));
        assertThat(read.find("two")).isEqualTo(new StepResults.StepResult("nothing", null));
        assertThat(read.find("three")).isNull();
        assertThatThrownBy(() -> StepResults.of(new byte[] {1, 0, 0, 9})).isInstanceOf(StoreException.class);
    }
}
