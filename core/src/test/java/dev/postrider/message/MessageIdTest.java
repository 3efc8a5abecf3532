package dev.postrider.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidMessageException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageIdTest {

    @Test
    void isOfVersionSevenAndTheUsualVariant() {
        for (int i = 0; i < 10_000; i++) {
            UUID value = MessageId.next().value();
            assertThat(value.version()).isEqualTo(7);
            assertThat(value.variant()).isEqualTo(2);
        }
    }

    @Test
    void beginsWithTheTime() {
        long before = System.currentTimeMillis();
        long millis = millisOf(MessageId.next());

        assertThat(millis).isGreaterThanOrEqualTo(before).isLessThan(before + 60_000);
    }

    @Test
    void risesStrictlyAlsoWithinAMillisecond() {
        MessageId last = MessageId.next();
        for (int i = 0; i < 100_000; i++) {
            MessageId next = MessageId.next();
            assertThat(next.compareTo(last)).isPositive();
            last = next;
        }
    }

    @Test
    void risesWhenTheWallClockStepsBack() {
        MessageId before = MessageId.next();
        MessageId after = MessageId.next(System.currentTimeMillis() - 3_600_000);

        assertThat(after).isGreaterThan(before);
        assertThat(MessageId.next()).isGreaterThan(after);
    }

    @Test
    void aFullCounterRunsIntoTheNextMillisecond() {
        MessageId first = MessageId.next(0);
        MessageId last = first;
        for (int i = 0; i < 5000; i++) {
            last = MessageId.next(0);
        }

        assertThat(millisOf(last)).isBetween(millisOf(first) + 1, millisOf(first) + 3);
        assertThat(last.value().version()).isEqualTo(7);
    }

    @Test
    void risesStrictlyInEveryThreadAndNeverRepeats() throws Exception {
        int threads = 8;
        int each = 20_000;
        CyclicBarrier together = new CyclicBarrier(threads);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<List<MessageId>>> results = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                results.add(pool.submit(() -> {
                    together.await();
                    List<MessageId> ids = new ArrayList<>(each);
                    for (int i = 0; i < each; i++) {
                        ids.add(MessageId.next());
                    }
                    return ids;
                }));
            }
            Set<Long> ticks = new HashSet<>();
            for (Future<List<MessageId>> result : results) {
                List<MessageId> ids = result.get();
                for (int i = 1; i < ids.size(); i++) {
                    assertThat(ids.get(i).compareTo(ids.get(i - 1))).isPositive();
                }
                ids.forEach(id -> ticks.add(id.value().getMostSignificantBits()));
            }
            // Time and counter alone are unique, before any chance: so the order is total over all threads.
            assertThat(ticks).hasSize(threads * each);
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void sortsByUnsignedBitsAsItsTextDoes() {
        MessageId low = MessageId.of("7fffffff-0000-7000-8000-000000000000");
        MessageId high = MessageId.of("80000000-0000-7000-8000-000000000000");
        MessageId higher = MessageId.of("80000000-0000-7000-8000-000000000001");

        assertThat(List.of(higher, low, high).stream().sorted()).containsExactly(low, high, higher);
        assertThat(low.toString()).isLessThan(high.toString());
        assertThat(high).isEqualByComparingTo(MessageId.of(high.toString()));
    }

    @Test
    void isReadBackFromItsText() {
        MessageId id = MessageId.next();

        assertThat(MessageId.of(id.toString())).isEqualTo(id);
        assertThat(MessageId.of("0190ABCD-0000-7000-8000-000000000000"))
                .hasToString("0190abcd-0000-7000-8000-000000000000");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "42",
                "1-1-1-1-1",
                "0190abcd-0000-7000-8000-0000000000000",
                "0190abcd-0000-7000-8000-00000000000",
                "0190abcd00007000800000000000000000",
                " 0190abcd-0000-7000-8000-000000000000",
                "0190abcd-0000-7000-8000-00000000000g",
                "0190abcd-0000-7000-8000-00000000000\u0661",
                "../../etc/passwd\n"
            })
    void textThatIsNoUuidIsRefused(String text) {
        assertThatThrownBy(() -> MessageId.of(text))
                .isInstanceOfSatisfying(
                        InvalidMessageException.class,
                        e -> assertThat(e.field()).isEqualTo("id"))
                .hasMessageNotContaining("\n");
    }

    @Test
    void nameOfASenderBecomesTheSameIdEverywhere() {
        assertThat(MessageId.named("orders-17")).hasToString("680b8589-f8c7-8723-8175-711927abd8f7");
        assertThat(MessageId.named("orders-17").value().version()).isEqualTo(8);
        assertThat(MessageId.named("orders-17").value().variant()).isEqualTo(2);
        assertThat(MessageId.named("Orders-17")).isNotEqualTo(MessageId.named("orders-17"));
        assertThat(MessageId.named("orders-17 ")).isNotEqualTo(MessageId.named("orders-17"));
        assertThat(MessageId.named("ä😀".repeat(85)))
                .as("255 characters are taken whole")
                .isNotEqualTo(MessageId.named("ä😀".repeat(84)));
    }

    @Test
    void uuidOfASenderIsTakenAsItIs() {
        MessageId id = MessageId.next();

        assertThat(MessageId.named(id.toString())).isEqualTo(id);
        assertThat(MessageId.named("0190ABCD-0000-7000-8000-000000000000"))
                .hasToString("0190abcd-0000-7000-8000-000000000000");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a\nb", "a\u0000", "\ud800", "\u009f"})
    void nameThatIsMissingOrNotAcceptableIsRefused(String name) {
        assertThatThrownBy(() -> MessageId.named(name))
                .isInstanceOfSatisfying(
                        InvalidMessageException.class,
                        e -> assertThat(e.field()).isEqualTo("id"));
    }

    @Test
    @SuppressWarnings("NullAway")
    void nameHasItsLimits() {
        assertThatThrownBy(() -> MessageId.named("x".repeat(256))).hasMessageStartingWith("id has 256 characters");
        assertThatThrownBy(() -> MessageId.named(null)).hasMessageStartingWith("id is missing: ");
        assertThatThrownBy(() -> MessageId.named(" ")).hasMessageStartingWith("id is missing: ");
    }

    @Test
    void whereAnIdComesFromHasNoPartInEquality() {
        MessageId byDefault = Message.to("orders").type("t").json("1").build().id();
        MessageId same = new MessageId(byDefault.value());

        assertThat(byDefault.isDefault()).isTrue();
        assertThat(same.isDefault()).isFalse();
        assertThat(MessageId.next().isDefault()).isFalse();
        assertThat(same).isEqualTo(byDefault).hasSameHashCodeAs(byDefault).isEqualByComparingTo(byDefault);
    }

    @Test
    @SuppressWarnings("NullAway")
    void aMissingIdIsRefused() {
        assertThatThrownBy(() -> MessageId.of(null)).isInstanceOf(InvalidMessageException.class);
        assertThatThrownBy(() -> new MessageId(null)).isInstanceOf(InvalidMessageException.class);
    }

    private static long millisOf(MessageId id) {
        return id.value().getMostSignificantBits() >>> 16;
    }
}
