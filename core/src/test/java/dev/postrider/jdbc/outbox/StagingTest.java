package dev.postrider.jdbc.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StagingTest {

    private final Staging staging = new Staging(5);
    private final Recording outbox = new Recording();

    @Test
    void stagedMessagesAreWrittenTogetherInTheirOrder() {
        Message first = message();
        List<Message> others = List.of(message(), message());
        staging.add(first);
        staging.addAll(others);

        List<Enqueued> written = staging.flush(outbox);

        assertThat(outbox.batches).containsExactly(List.of(first, others.get(0), others.get(1)));
        assertThat(written)
                .extracting(Enqueued::id)
                .containsExactly(first.id(), others.get(0).id(), others.get(1).id());
    }

    @Test
    void flushingTwiceWritesOnce() {
        staging.add(message());

        staging.flush(outbox);
        assertThat(staging.flush(outbox)).isEmpty();

        assertThat(outbox.batches).hasSize(1);
        assertThat(staging.size()).isZero();
    }

    @Test
    @SuppressWarnings("NullAway")
    void missingBatchIsRefused() {
        assertThatThrownBy(() -> staging.addAll(null)).isInstanceOf(InvalidMessageException.class);
        assertThatThrownBy(() -> staging.add(null)).isInstanceOf(InvalidMessageException.class);
    }

    @Test
    void whatCouldNotBeWrittenStaysStaged() {
        staging.add(message());
        outbox.broken = true;
        assertThatThrownBy(() -> staging.flush(outbox)).isInstanceOf(IllegalStateException.class);
        assertThat(staging.size()).isEqualTo(1);

        outbox.broken = false;
        staging.flush(outbox);

        assertThat(outbox.batches).hasSize(1);
    }

    @Test
    void batchWithAMissingMessageLeavesNothingStaged() {
        List<Message> hole = Arrays.asList(message(), message(), null);

        assertThatThrownBy(() -> staging.addAll(hole))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageContaining("position 2");
        assertThat(staging.size()).isZero();
    }

    @Test
    void limitIsOfAllStagedMessagesAndRefusesABatchWhole() {
        staging.addAll(List.of(message(), message(), message()));

        assertThatThrownBy(() -> staging.addAll(List.of(message(), message(), message())))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageContaining("more than 5");
        assertThat(staging.size()).isEqualTo(3);
        staging.addAll(List.of(message(), message()));
        assertThat(staging.size()).isEqualTo(5);
    }

    private static Message message() {
        return Message.to("orders").type("thing").text("x").build();
    }

    private static final class Recording implements Outbox {

        private final List<List<Message>> batches = new ArrayList<>();
        private boolean broken;

        @Override
        public Enqueued enqueue(Message message) {
            return enqueueAll(List.of(message)).get(0);
        }

        @Override
        public List<Enqueued> enqueueAll(Collection<Message> messages) {
            if (broken) {
                throw new IllegalStateException("broken");
            }
            batches.add(List.copyOf(messages));
            return messages.stream()
                    .<Enqueued>map(message -> new Enqueued.Created(message.id(), message.effectiveKey()))
                    .toList();
        }
    }
}
