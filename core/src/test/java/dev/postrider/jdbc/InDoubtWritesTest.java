package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Message;
import dev.postrider.store.Claim;
import dev.postrider.store.Lease;
import dev.postrider.store.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class InDoubtWritesTest {

    private final InDoubtWrites unanswered = new InDoubtWrites();
    private final Outcome outcome = delivered(new Lease(UUID.randomUUID(), "worker", Duration.ofSeconds(30)));

    @Test
    void outcomeIsInDoubtAfterItWasSentWithoutAnAnswerAndAnOperatorChangedTheLane() {
        assertThat(unanswered.isInDoubt(outcome, 8)).as("not sent").isFalse();

        unanswered.outcomes(List.of(outcome), sent -> 7);

        assertThat(unanswered.isInDoubt(outcome, 7)).as("nothing changed").isFalse();
        assertThat(unanswered.isInDoubt(outcome, 8)).isTrue();
    }

    @Test
    void itIsStillInDoubtWhenItWasSentOnceMoreWithoutAnAnswer() {
        unanswered.outcomes(List.of(outcome), sent -> 7);
        unanswered.outcomes(List.of(outcome), sent -> 8);

        assertThat(unanswered.isInDoubt(outcome, 8)).isTrue();
    }

    @Test
    void answerEndsTheDoubt() {
        unanswered.outcomes(List.of(outcome), sent -> 7);

        unanswered.answered(List.of(outcome));

        assertThat(unanswered.wasSent(outcome)).isFalse();
        assertThat(unanswered.isInDoubt(outcome, 8)).isFalse();
    }

    @Test
    void outcomeUnderAnotherLeaseIsAnother() {
        unanswered.outcomes(List.of(outcome), sent -> 7);

        Outcome other = delivered(new Lease(UUID.randomUUID(), "worker", Duration.ofSeconds(30)));

        assertThat(unanswered.wasSent(other)).isFalse();
        assertThat(unanswered.isInDoubt(other, 8)).isFalse();
    }

    private static Outcome delivered(Lease lease) {
        Message message =
                Message.to("orders").type("order.placed").key("a").text("1").build();
        return new Outcome.Delivered(new Claim(1, message, 1, 0, lease));
    }
}
