package dev.postrider.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.MessageId;
import org.junit.jupiter.api.Test;

final class EnqueuedTest {

    @Test
    void foldCallsTheFunctionOfItsKind() {
        MessageId id = MessageId.next();

        assertThat(folded(new Enqueued.Created(id, "k"))).isEqualTo("created " + id);
        assertThat(folded(new Enqueued.Duplicate(id, "k", true))).isEqualTo("duplicate of " + id);
    }

    private static String folded(Enqueued result) {
        return result.fold(created -> "created " + created.id(), duplicate -> "duplicate of " + duplicate.firstId());
    }
}
