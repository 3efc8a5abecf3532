package dev.postrider.server.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class ProofTest {

    private final UUID first = UUID.randomUUID();
    private final UUID second = UUID.randomUUID();
    private final UUID takenBack = UUID.randomUUID();

    @Test
    void holdsWhenEverythingCommittedArrivedHoweverOften() {
        Proof proof = Proof.of(Set.of(first, second), Set.of(takenBack), Map.of(first, 1, second, 3));

        assertThat(proof).isEqualTo(new Proof(2, 0, 0, 1, 0, 2));
        assertThat(proof.holds()).isTrue();
    }

    @Test
    void failsWhenACommittedOrderIsMissing() {
        Proof proof = Proof.of(Set.of(first, second), Set.of(), Map.of(first, 2));

        assertThat(proof.lost()).isEqualTo(1);
        assertThat(proof.holds()).isFalse();
    }

    @Test
    void failsWhenARolledBackOrderArrived() {
        Proof proof = Proof.of(Set.of(first), Set.of(takenBack), Map.of(first, 1, takenBack, 1));

        assertThat(proof.phantoms()).isEqualTo(1);
        assertThat(proof.rolledBackArrived()).isEqualTo(1);
        assertThat(proof.holds()).isFalse();
    }

    @Test
    void failsWhenNothingWasCommitted() {
        assertThat(Proof.of(Set.of(), Set.of(), Map.of()).holds()).isFalse();
    }
}
