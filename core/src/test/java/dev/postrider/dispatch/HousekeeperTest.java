package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.internal.store.Stores;
import dev.postrider.message.TopicName;
import dev.postrider.store.Outcome;
import java.time.Duration;
import java.util.Collections;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class HousekeeperTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Rig rig = new Rig("bad", "good");
    private final Housekeeper housekeeper =
            housekeeper(DispatchOptions.builder().build());

    private Housekeeper housekeeper(DispatchOptions options) {
        return new Housekeeper(
                new Stores(rig.store, new FakeLanes(), rig.store, new FakeHandling()),
                rig.settings(options),
                rig.inFlight,
                () -> rig.writer.counters().copy(),
                rig.time);
    }

    @Test
    void everyRoundSweepsAndOnlyEveryIntervalPurges() {
        assertThat(housekeeper.runOnce()).as("once per lease").isEqualTo(Duration.ofSeconds(30));
        assertThat(rig.store.sweeps).hasSize(2);
        assertThat(rig.store.purges).isEmpty();

        rig.time.pass(MINUTE);
        housekeeper.runOnce();

        assertThat(rig.store.purges)
                .as("dead letters are kept for ever")
                .containsExactly("archive", "keys", "inbox marks");
        assertThat(rig.store.tended).containsExactly(Optional.of(Duration.ofDays(30)));
        assertThat(rig.store.rebuilds).hasValue(1);
    }

    @Test
    void deadLettersArePurgedWhenTheyHaveARetention() {
        Housekeeper strict = housekeeper(
                DispatchOptions.builder().deadRetention(Duration.ofDays(7)).build());
        rig.time.pass(MINUTE);

        strict.runOnce();

        assertThat(rig.store.purges).containsExactly("archive", "dead", "keys", "inbox marks");
    }

    @Test
    void marksOfTheInboxAreKeptForEverIfThatIsWished() {
        Housekeeper generous =
                housekeeper(DispatchOptions.builder().inboxRetentionForever().build());
        rig.time.pass(MINUTE);

        generous.runOnce();

        assertThat(rig.store.purges).containsExactly("archive", "keys");
        assertThat(rig.store.tended).as("those to come are made all the same").containsExactly(Optional.empty());
    }

    @Test
    void purgeGoesOnWhileItsChunksAreFullUpToALimit() {
        int[] left = {3};
        rig.store.onPurge = kind -> kind.equals("archive") ? (left[0]-- > 0 ? 1000 : 10) : 1000;
        rig.time.pass(MINUTE);

        housekeeper.runOnce();

        assertThat(Collections.frequency(rig.store.purges, "archive")).isEqualTo(4);
        assertThat(Collections.frequency(rig.store.purges, "keys")).isEqualTo(200);
        assertThat(rig.events(Event.Purged.class)).containsExactly(new Event.Purged(3010, 0, 200_000, 200_000));
    }

    @Test
    void stopEndsAPurgeAfterItsChunk() {
        rig.store.onPurge = kind -> {
            housekeeper.stop();
            return 1000;
        };
        rig.time.pass(MINUTE);

        housekeeper.runOnce();

        assertThat(rig.store.purges).containsExactly("archive");
    }

    @Test
    void stepThatFailsDoesNotKeepTheOthersFromBeingDone() {
        rig.store.onSweep = topic -> {
            if (topic.equals(TopicName.of("bad"))) {
                throw FakeStore.refused();
            }
            return 1;
        };
        rig.time.pass(MINUTE);

        housekeeper.runOnce();

        assertThat(rig.events(Event.Swept.class)).containsExactly(new Event.Swept(TopicName.of("good"), 1));
        assertThat(rig.events(Event.StoreFailed.class))
                .extracting(Event.StoreFailed::doing)
                .containsExactly("sweep bad");
        assertThat(rig.store.purges).isNotEmpty();
        assertThat(rig.events(Event.Summary.class)).hasSize(1);
    }

    @Test
    void unavailableDatabaseEndsTheRound() {
        rig.store.onSweep = topic -> {
            throw FakeStore.unavailable();
        };

        assertThatThrownBy(housekeeper::runOnce).isInstanceOf(StoreUnavailableException.class);
        assertThat(rig.store.sweeps).hasSize(1);
    }

    @Test
    void summaryCountsWhatHappenedSinceTheLast() {
        settleDelivered(3);
        rig.hold();
        rig.time.pass(MINUTE);
        housekeeper.runOnce();
        rig.time.pass(MINUTE);
        housekeeper.runOnce();

        assertThat(rig.events(Event.Summary.class))
                .containsExactly(
                        new Event.Summary(3, 0, 0, 0, 0, 0, 1, MINUTE), new Event.Summary(0, 0, 0, 0, 0, 0, 1, MINUTE));
    }

    @Test
    void nodeThatStopsSummarisesTheRestOnce() {
        settleDelivered(1);
        rig.time.pass(MINUTE);
        housekeeper.runOnce();
        housekeeper.summariseRest();
        assertThat(rig.events(Event.Summary.class)).as("no attempt since").hasSize(1);

        settleDelivered(2);
        rig.time.pass(Duration.ofSeconds(3));
        housekeeper.summariseRest();
        housekeeper.summariseRest();

        assertThat(rig.events(Event.Summary.class))
                .containsExactly(
                        new Event.Summary(1, 0, 0, 0, 0, 0, 0, MINUTE),
                        new Event.Summary(2, 0, 0, 0, 0, 0, 0, Duration.ofSeconds(3)));
    }

    private void settleDelivered(int count) {
        rig.hold(count).forEach(claimed -> rig.writer.add(claimed, new Outcome.Delivered(claimed.claim())));
        rig.writer.runOnce();
    }
}
