package dev.postrider.benchmarks.contender;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalDateTime;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DueScanTest {

    private static final HandStatements.Position LATER =
            new HandStatements.Position(LocalDateTime.of(2026, 11, 19, 12, 0), 500);

    private final DueScan scan = new DueScan();

    @Test
    void scanGoesOnAfterTheLastClaimedMessage() throws Exception {
        scan.claim(position -> full());

        scan.claim(position -> {
            assertThat(position).isEqualTo(LATER);
            return full();
        });
    }

    @Test
    void scanReturnsToTheStartAfterBatchThatWasNotFull() throws Exception {
        scan.claim(position -> full());
        scan.claim(position -> new HandStatements.Batch(List.of(), HandStatements.Position.START));

        scan.claim(position -> {
            assertThat(position).isEqualTo(HandStatements.Position.START);
            return full();
        });
    }

    private static HandStatements.Batch full() {
        HandStatements.Row row = new HandStatements.Row(
                1, 1, new HandStatements.Carried("id", "type", null, null, null, "application/json", "{}", 1));
        return new HandStatements.Batch(Collections.nCopies(HandStatements.BATCH, row), LATER);
    }
}
