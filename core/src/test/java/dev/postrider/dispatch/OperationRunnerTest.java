package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.admin.Action;
import dev.postrider.admin.Operation;
import dev.postrider.admin.OperationState;
import dev.postrider.admin.OperationTerms;
import dev.postrider.event.Event;
import dev.postrider.internal.store.OperationStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class OperationRunnerTest {

    private static final Duration POLL = Duration.ofSeconds(10);

    private final Queue<OperationStore.OperationStep> steps = new ArrayDeque<>();
    private final List<Event> events = new ArrayList<>();
    private final ManualTime time = new ManualTime();
    private final OperationRunner runner = new OperationRunner(
            (node, lease) -> steps.remove(), DispatchOptions.builder().build(), events::add, time);

    private static Operation operation(OperationState state, @Nullable String error) {
        return new Operation(
                7,
                Action.REPLAY,
                "state=dead",
                OperationTerms.by("ann"),
                state,
                1,
                0,
                "node",
                Instant.EPOCH,
                Instant.EPOCH,
                Instant.EPOCH,
                null,
                error);
    }

    private void step(OperationState state, @Nullable String error, boolean first) {
        steps.add(new OperationStore.OperationStep(operation(state, error), first, Duration.ZERO));
        assertThat(runner.runOnce()).isZero();
    }

    @Test
    void nodeLooksAgainWhenAnOperationIsDueAndAtTheLatestAfterItsPoll() {
        steps.add(new OperationStore.OperationStep(null, false, Duration.ofMillis(300)));
        steps.add(new OperationStore.OperationStep(null, false, Duration.ofHours(1)));

        assertThat(runner.runOnce()).isEqualTo(Duration.ofMillis(300));
        assertThat(runner.runOnce()).isEqualTo(POLL);
        assertThat(events).isEmpty();
    }

    @Test
    void progressIsReportedOnceASecondAndTheEndAlways() {
        step(OperationState.RUNNING, null, true);
        step(OperationState.RUNNING, null, false);
        time.pass(Duration.ofSeconds(1));
        step(OperationState.RUNNING, null, false);
        step(OperationState.COMPLETED, null, false);

        Operation running = operation(OperationState.RUNNING, null);
        assertThat(events)
                .containsExactly(
                        new Event.OperationStarted(running),
                        new Event.OperationAdvanced(running),
                        new Event.OperationAdvanced(running),
                        new Event.OperationEnded(operation(OperationState.COMPLETED, null)));
    }

    @Test
    void operationOfOneStepHasAStartAndAnEnd() {
        step(OperationState.COMPLETED, null, true);

        assertThat(events).hasSize(2);
    }

    @Test
    void everyFailedStepIsReported() {
        step(OperationState.RUNNING, "disk full", true);
        step(OperationState.RUNNING, "disk full", false);

        assertThat(events).filteredOn(Event.OperationAdvanced.class::isInstance).hasSize(2);
    }
}
