package dev.postrider.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Histories made by hand, good and bad. */
final class SumsTest {

    @TempDir
    private Path directory;

    private Journal producer;
    private Journal receiver;
    private Journal operator;

    @BeforeEach
    void open() {
        producer = Journal.at(directory.resolve("producer-1.journal"));
        receiver = Journal.at(directory.resolve("receiver.journal"));
        operator = Journal.at(directory.resolve("operator.journal"));
    }

    @AfterEach
    void close() {
        producer.close();
        receiver.close();
        operator.close();
    }

    @Test
    void everythingCameInOrder() {
        intended("t", "a", 1, "", true);
        intended("t", "b", 2, "", true);
        received("a", 1);
        received("b", 2);
        received("a", 1);

        Sums sums = sums(Set.of());

        assertThat(sums.isSound()).isTrue();
        assertThat(sums.committed()).isEqualTo(2);
        assertThat(sums.received()).isEqualTo(2);
    }

    @Test
    void nothingAtAllIsNotSound() {
        assertThat(sums(Set.of()).isSound()).isFalse();
    }

    @Test
    void messageThatNeverCameIsMissing() {
        intended("t", "a", 1, "", true);

        assertThat(sums(Set.of()).missing()).containsExactly("a");
    }

    @Test
    void deadAndDiscardedMessagesAreNotMissing() {
        intended("t", "a", 1, "", true);
        intended("t", "b", 2, "", true);
        operator.write("did", "action", "discard", "id", "b", "topic", "ledger");

        Sums sums = sums(Set.of("a"));

        assertThat(sums.missing()).isEmpty();
        assertThat(sums.dead()).isEqualTo(2);
    }

    @Test
    void secondMessageWithAKeyIsNotMissingIfTheFirstCame() {
        intended("t", "a", 1, "k", true);
        intended("t", "b", 2, "k", true);
        received("a", 1);

        Sums sums = sums(Set.of());

        assertThat(sums.missing()).isEmpty();
        assertThat(sums.repeated()).isEqualTo(1);
    }

    @Test
    void bothMessagesWithAKeyAreMissingIfNoneCame() {
        intended("t", "a", 1, "k", true);
        intended("t", "b", 2, "k", true);

        assertThat(sums(Set.of()).missing()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void whatWasRolledBackIsAPhantom() {
        intended("t", "a", 1, "", false);
        intended("other", "b", 1, "", true);
        received("a", 1);
        received("b", 1);

        assertThat(sums(Set.of()).phantoms()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void firstDeliveryAfterThatOfAHigherNumberIsOutOfOrder() {
        intended("t", "a", 1, "", true);
        intended("t", "b", 2, "", true);
        received("b", 2);
        received("a", 1);

        assertThat(sums(Set.of()).disorders()).hasSize(1);
    }

    private Sums sums(Set<String> dead) {
        return Sums.of(directory, Set.of("t"), dead);
    }

    private void intended(String tx, String id, int number, String dedup, boolean kept) {
        producer.write(
                "intended",
                "tx",
                tx,
                "id",
                id,
                "topic",
                "ledger",
                "tenant",
                "t1",
                "key",
                "l1",
                "number",
                number,
                "dedup",
                dedup,
                "deliverAt",
                null,
                "kept",
                kept);
    }

    private void received(String id, int number) {
        receiver.write("received", "id", id, "topic", "ledger", "tenant", "t1", "key", "l1", "number", number);
    }
}
