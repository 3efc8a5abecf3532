package dev.postrider.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

final class ProcessResultTest {

    @Test
    void foldCallsTheFunctionOfItsKind() {
        Instant first = Instant.EPOCH;

        assertThat(folded(new ProcessResult.Processed())).isEqualTo("processed");
        assertThat(folded(new ProcessResult.AlreadyProcessed(first))).isEqualTo("before, at " + first);
        assertThat(folded(new ProcessResult.Collision(first))).isEqualTo("collision, at " + first);
        assertThat(folded(new ProcessResult.TooOld())).isEqualTo("too old");
    }

    private static String folded(ProcessResult result) {
        return result.fold(
                processed -> "processed",
                before -> "before, at " + before.firstSeenAt(),
                collision -> "collision, at " + collision.firstSeenAt(),
                tooOld -> "too old");
    }
}
