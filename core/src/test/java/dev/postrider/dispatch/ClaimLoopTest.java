package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

final class ClaimLoopTest {

    private static final TopicName ORDERS = TopicName.of("orders");

    private final Rig rig = new Rig("orders");

    @Test
    void fullBatchIsFollowedByAnotherAtOnce() {
        rig.store.enqueue("orders", 150);
        rig.scans.scanNow();

        assertThat(rig.loop.runOnce()).isZero();
        rig.writer.runOnce();
        assertThat(rig.loop.runOnce()).as("the second was not full").isPositive();

        assertThat(rig.sent).hasSize(150);
        assertThat(rig.store.claims).hasSize(2);
    }

    @Test
    void claimThatReachesTheByteBudgetCountsAsFull() {
        Rig small = new Rig(DispatchOptions.builder().maxInFlightBytes(14).build(), "orders");
        small.store.enqueue("orders", 10);
        small.store.onClaim = request -> small.store.next("orders", 1, 2);
        small.scans.scanNow();
        small.loop.runOnce();
        small.writer.runOnce();

        small.loop.runOnce();

        assertThat(small.store.claims).as("7 bytes each").hasSize(2);
    }

    @Test
    void idleTopicIsNotClaimedBeforeThePollSaysSo() {
        assertThat(rig.loop.runOnce()).isEqualTo(Rig.POLL);
        assertThat(rig.store.polls).hasValue(1);
        assertThat(rig.store.claims).isEmpty();

        rig.time.pass(Duration.ofSeconds(4));
        assertThat(rig.loop.runOnce()).isEqualTo(Duration.ofSeconds(1));
        assertThat(rig.store.polls).hasValue(1);

        rig.time.pass(Duration.ofSeconds(1));
        rig.store.onNextDue = topics -> Map.of(ORDERS, Duration.ZERO);
        rig.loop.runOnce();
        assertThat(rig.store.polls).hasValue(2);
        assertThat(rig.store.claims).hasSize(1);
    }

    @Test
    void onePollAsksForAllTopics() {
        Rig three = new Rig("a", "b", "c");
        List<Integer> asked = new ArrayList<>();
        three.store.onNextDue = topics -> {
            asked.add(topics.size());
            return Map.of(TopicName.of("b"), Duration.ZERO);
        };

        three.loop.runOnce();

        assertThat(asked).containsExactly(3);
        assertThat(three.store.claims).extracting(ClaimRequest::topic).containsExactly(TopicName.of("b"));
    }

    @Test
    void loopWaitsUntilSomethingComesDue() {
        rig.store.onNextDue = topics -> Map.of(ORDERS, Duration.ofSeconds(2));

        assertThat(rig.loop.runOnce()).isEqualTo(Duration.ofSeconds(2));
        rig.time.pass(Duration.ofSeconds(2));
        rig.loop.runOnce();

        assertThat(rig.store.claims).hasSize(1);
    }

    @Test
    void wakeUpDoesNotForgetWhatComesDueLater() {
        rig.loop.runOnce();
        rig.scans.scanAfter(ORDERS, Duration.ofSeconds(2));
        rig.scans.scanNow();
        rig.loop.runOnce();

        assertThat(rig.loop.runOnce()).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void whatIsDueAfterTheNextPollIsLeftToIt() {
        rig.store.onNextDue = topics -> Map.of(ORDERS, Duration.ofSeconds(Long.MAX_VALUE));

        assertThat(rig.loop.runOnce()).isEqualTo(Rig.POLL);
        assertThat(rig.store.claims).isEmpty();
        assertThat(rig.events).isEmpty();
    }

    @Test
    void claimOfSomethingDueIsFollowedByAnEarlyPoll() {
        rig.store.onNextDue = topics -> Map.of(ORDERS, Duration.ZERO);
        rig.store.enqueue("orders", 1);

        assertThat(rig.loop.runOnce()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void wakeUpDuringAClaimIsNotLost() {
        rig.store.onClaim = request -> {
            rig.scans.scanNow();
            return List.of();
        };
        rig.scans.scanNow();

        assertThat(rig.loop.runOnce()).isZero();

        rig.store.onClaim = request -> List.of();
        assertThat(rig.loop.runOnce()).isPositive();
        assertThat(rig.store.claims).hasSize(2);
    }

    @Test
    void claimNeverExceedsFreeSlots() {
        Rig small =
                new Rig(DispatchOptions.builder().maxInFlight(7).batchSize(5).build(), "orders");
        small.hush();
        small.store.enqueue("orders", 100);
        small.scans.scanNow();

        for (int i = 0; i < 5; i++) {
            small.loop.runOnce();
            small.time.pass(Duration.ofMillis(10));
        }

        assertThat(small.store.claims).extracting(ClaimRequest::limit).containsExactly(5, 2);
        assertThat(small.inFlight.count()).isEqualTo(7);
    }

    @Test
    void claimNeverExceedsTheSlotsOfItsTopic() {
        Topic narrow = Topic.named("orders").deliver(rig).maxInFlight(3).build();
        DispatchOptions options = DispatchOptions.builder().build();
        RowClaimer claimer = new RowClaimer(rig.store, rig.settings(options), rig.inFlight, rig.pipeline, rig.time);
        ScanSchedule scans = new ScanSchedule(List.of(narrow), options.pollInterval(), rig.time);
        ClaimLoop loop = new ClaimLoop(scans, Map.of(narrow, claimer), rig.time, rig.events::add);
        rig.hush();
        rig.store.enqueue("orders", 10);
        scans.scanNow();

        loop.runOnce();
        rig.time.pass(Duration.ofMillis(10));
        loop.runOnce();

        assertThat(rig.store.claims).extracting(ClaimRequest::limit).containsExactly(3);
    }

    @Test
    void claimNeverExceedsFreeBytes() {
        Rig small = new Rig(DispatchOptions.builder().maxInFlightBytes(20).build(), "orders");
        small.hush();
        small.store.onClaim = request -> small.store.next("orders", 1, request.maxBytes() > 14 ? 2 : 1);
        small.scans.scanNow();

        for (int i = 0; i < 5; i++) {
            small.scans.scanNow();
            small.loop.runOnce();
            small.time.pass(Duration.ofMillis(10));
        }

        assertThat(small.store.claims).extracting(ClaimRequest::maxBytes).containsExactly(20L, 6L);
        assertThat(small.inFlight.freeBytes(small.topic())).isEqualTo(-1);
    }

    @Test
    void hangingTopicWithLargeMessagesLeavesAnotherItsBytes() {
        Rig small = new Rig(DispatchOptions.builder().maxInFlightBytes(40).build(), "large", "small");
        small.hush();
        small.store.onClaim = request -> request.topic().topic().equals("large")
                ? small.store.next("large", 1, (int) Math.max(request.maxBytes() / 7, 1))
                : List.of();
        for (int i = 0; i < 5; i++) {
            small.scans.scanNow(TopicName.of("large"));
            small.loop.runOnce();
            small.time.pass(Duration.ofMillis(10));
        }
        assertThat(small.inFlight.freeBytes(small.topic())).isNotPositive();
        int before = small.store.claims.size();

        small.scans.scanNow(TopicName.of("small"));
        small.loop.runOnce();

        assertThat(small.store.claims).hasSize(before + 1);
        assertThat(small.store.claims.get(before).topic()).isEqualTo(TopicName.of("small"));
        assertThat(small.store.claims.get(before).maxBytes()).isEqualTo(10);
    }

    @Test
    void hangingTopicLeavesAnotherItsSlots() {
        Rig small = new Rig(DispatchOptions.builder().maxInFlight(40).build(), "slow", "quick");
        small.hush();
        small.store.enqueue("slow", 100);
        for (int i = 0; i < 5; i++) {
            small.scans.scanNow(TopicName.of("slow"));
            small.loop.runOnce();
            small.time.pass(Duration.ofMillis(10));
        }
        assertThat(small.inFlight.slotsTaken()).isEqualTo(30);
        small.store.enqueue("quick", 100);

        small.scans.scanNow(TopicName.of("quick"));
        small.loop.runOnce();

        assertThat(small.inFlight.slotsTaken()).isEqualTo(40);
    }

    @Test
    void freedSlotIsUsedAgain() {
        Rig small = new Rig(DispatchOptions.builder().maxInFlight(1).build(), "orders");
        CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
        small.answer = delivery -> answer;
        small.store.enqueue("orders", 2);
        small.scans.scanNow();
        small.loop.runOnce();
        small.loop.runOnce();
        assertThat(small.sent).hasSize(1);

        answer.complete(DeliveryResult.delivered());
        small.writer.runOnce();
        small.time.pass(Duration.ofMillis(10));
        small.loop.runOnce();

        assertThat(small.sent).hasSize(2);
    }

    @Test
    void fewFreeSlotsAreGatheredForAMoment() {
        Rig small =
                new Rig(DispatchOptions.builder().maxInFlight(10).batchSize(10).build(), "orders");
        small.store.enqueue("orders", 20);
        List<CompletableFuture<DeliveryResult>> answers = new ArrayList<>();
        small.answer = delivery -> {
            answers.add(new CompletableFuture<>());
            return answers.get(answers.size() - 1);
        };
        small.scans.scanNow();
        small.loop.runOnce();
        answers.get(0).complete(DeliveryResult.delivered());
        small.time.pass(Duration.ofMillis(1));
        small.writer.runOnce();
        small.time.pass(Duration.ofMillis(10));
        small.writer.runOnce();

        small.time.pass(Duration.ofMillis(-8));
        assertThat(small.loop.runOnce()).isEqualTo(Duration.ofMillis(2));
        assertThat(small.store.claims).hasSize(1);
        small.time.pass(Duration.ofMillis(2));
        small.loop.runOnce();
        assertThat(small.store.claims).extracting(ClaimRequest::limit).containsExactly(10, 1);
    }

    @Test
    void topicThatFailsDoesNotStopTheOthers() {
        Rig two = new Rig("bad", "good");
        TopicName bad = TopicName.of("bad");
        two.store.enqueue("good", 1);
        two.store.onClaim = failingFor(two, bad);
        two.scans.scanNow();

        two.loop.runOnce();
        two.loop.runOnce();

        assertThat(two.sent).hasSize(1);
        assertThat(two.events(Event.StoreFailed.class)).isNotEmpty().allSatisfy(event -> {
            assertThat(event.doing()).isEqualTo("claim bad");
            assertThat(event.error()).isEqualTo("refused");
        });
    }

    @Test
    void topicWhoseClaimFailsIsNotClaimedForAWhileHoweverOftenItIsWanted() {
        rig.store.onClaim = failingFor(rig, ORDERS);
        rig.scans.scanNow();
        assertThat(rig.loop.runOnce()).isEqualTo(Duration.ofMillis(50));

        rig.scans.scanNow();
        assertThat(rig.loop.runOnce()).isEqualTo(Duration.ofMillis(50));
        assertThat(rig.store.claims).hasSize(1);

        rig.time.pass(Duration.ofMillis(50));
        assertThat(rig.loop.runOnce()).isEqualTo(Duration.ofMillis(100));
        assertThat(rig.store.claims).as("and then again without a wake-up").hasSize(2);
    }

    private static Function<ClaimRequest, List<Claim>> failingFor(Rig rig, TopicName bad) {
        Function<ClaimRequest, List<Claim>> usual = rig.store.onClaim;
        return request -> {
            if (request.topic().equals(bad)) {
                throw FakeStore.refused();
            }
            return usual.apply(request);
        };
    }

    @Test
    void pollThatOneTopicSpoilsIsReplacedByAScanOfEach() {
        Rig two = new Rig("bad", "good");
        two.store.onNextDue = topics -> {
            throw FakeStore.refused();
        };

        two.loop.runOnce();

        assertThat(two.store.claims).hasSize(2);
    }

    @Test
    void unavailableDatabaseEndsTheRoundAndTheWishIsKept() {
        rig.loop.runOnce();
        rig.scans.scanNow();
        rig.store.onClaim = request -> {
            throw FakeStore.unavailable();
        };
        assertThatThrownBy(rig.loop::runOnce).isInstanceOf(StoreUnavailableException.class);

        rig.store.onClaim = request -> List.of();
        rig.loop.runOnce();

        assertThat(rig.store.claims).hasSize(2);
    }

    @Test
    void topicsTakeTurnsWhenSlotsAreShort() {
        Rig two = new Rig(DispatchOptions.builder().maxInFlight(1).build(), "a", "b");
        two.store.enqueue("a", 10);
        two.store.enqueue("b", 10);
        for (int i = 0; i < 6; i++) {
            two.scans.scanNow();
            two.loop.runOnce();
            two.writer.runOnce();
            two.time.pass(Duration.ofMillis(10));
        }

        assertThat(two.sent)
                .extracting(delivery -> delivery.message().topic().topic())
                .contains("a", "b");
    }

    @Test
    void dueMessageThatCannotBeClaimedIsSweptFor() {
        rig.store.onNextDue = topics -> Map.of(ORDERS, Duration.ZERO);
        rig.store.onSweep = topic -> 3;

        rig.loop.runOnce();

        assertThat(rig.store.sweeps).containsExactly(ORDERS);
        assertThat(rig.events(Event.Swept.class)).containsExactly(new Event.Swept(ORDERS, 3));
    }

    @Test
    void wakeUpScansItsTopicOnlyAndForNothingButNewMessages() {
        Rig three = new Rig("a", "b", "c");
        three.loop.runOnce();

        three.scans.scanNow(TopicName.of("b"));
        three.scans.scanNow(TopicName.of("unknown"));
        three.loop.runOnce();

        assertThat(three.store.claims).extracting(ClaimRequest::topic).containsExactly(TopicName.of("b"));
        assertThat(three.store.claims).allMatch(ClaimRequest::newOnly);
    }

    @Test
    void whatIsKnownToBeDueMayBeALeaseThatRanOut() {
        rig.store.onNextDue = topics -> Map.of(ORDERS, Duration.ZERO);

        rig.loop.runOnce();

        assertThat(rig.store.claims).hasSize(1).noneMatch(ClaimRequest::newOnly);
    }

    @Test
    void wakeUpForNothingCostsNoSweep() {
        rig.scans.scanNow();

        rig.loop.runOnce();

        assertThat(rig.store.claims).hasSize(1);
        assertThat(rig.store.sweeps).isEmpty();
    }

    @Test
    void leaseCountsFromBeforeTheClaimingStatement() {
        rig.store.onClaim = request -> {
            rig.time.pass(Duration.ofSeconds(28));
            return rig.store.next("orders", 1, 1);
        };
        rig.scans.scanNow();

        rig.loop.runOnce();

        assertThat(rig.sent).as("too old when it arrived").isEmpty();
    }

    @Test
    void claimEachAsksForEveryTopicAndTellsOfFailures() {
        Rig two = new Rig("a", "b");
        two.loop.claimEach(Runnable::run);
        assertThat(two.store.claims).hasSize(2);
        assertThat(two.store.sweeps).hasSize(2);

        two.store.onClaim = failingFor(two, TopicName.of("a"));
        assertThatThrownBy(() -> two.loop.claimEach(Runnable::run)).hasMessage("refused");
    }
}
