package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.event.Event;
import dev.postrider.internal.store.HandOver.Reservation;
import dev.postrider.message.Message;
import dev.postrider.store.Claim;
import dev.postrider.store.Outcome;
import dev.postrider.transport.Delivery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class LocalHandOverTest {

    private final Rig rig = new Rig("orders", "audit");
    private final LocalHandOver localHandOver =
            localHandOver(rig, DispatchOptions.builder().build());

    @Test
    void committedMessagesAreDeliveredByTheLoopAndNotByTheCommittingThread() {
        AtomicInteger wakes = new AtomicInteger();
        localHandOver.onWork(wakes::incrementAndGet);
        Message message = order();
        Reservation reservation = localHandOver.reserve(List.of(message));

        reservation.committed(claims(reservation, message));
        assertThat(rig.sent).isEmpty();
        assertThat(wakes).hasValue(1);
        assertThat(rig.inFlight.count()).isEqualTo(1);

        localHandOver.runOnce();
        assertThat(rig.sent).extracting(Delivery::message).containsExactly(message);
        assertThat(rig.sent).extracting(Delivery::attempt).containsExactly(1);
        assertThat(rig.events(Event.HandedOver.class)).containsExactly(new Event.HandedOver(message.topic(), 1));
    }

    @Test
    void everyTransactionHasATokenOfItsOwn() {
        Reservation one = localHandOver.reserve(List.of(order()));
        Reservation other = localHandOver.reserve(List.of(order()));

        assertThat(one.lease().token()).isNotEqualTo(other.lease().token());
        assertThat(one.lease().length()).isEqualTo(Rig.LEASE);
    }

    @Test
    void thereAreAsManySlotsAsTheTopicMayHaveInFlight() {
        List<Message> many = orders(150);

        Reservation reservation = localHandOver.reserve(many);

        assertThat(reservation.messages()).hasSize(100).contains(many.get(0).id());
        assertThat(localHandOver.reserve(List.of(order()))).isSameAs(Reservation.NONE);
        assertThat(localHandOver.reserve(List.of(message("audit"))).messages())
                .as("other topics have slots of their own")
                .hasSize(1);
        reservation.abandoned();
        queueIsEmpty();
        assertThat(localHandOver.reserve(orders(150)).messages()).hasSize(100);
    }

    @Test
    void messageGivenTwiceTakesOneSlot() {
        Message message = order();

        assertThat(localHandOver.reserve(List.of(message, message)).messages()).containsExactly(message.id());
        assertThat(localHandOver.reserve(orders(150)).messages()).hasSize(99);
    }

    @Test
    void whatWasReservedButNotInsertedFreesItsSlot() {
        List<Message> two = orders(2);
        Reservation reservation = localHandOver.reserve(two);

        reservation.committed(claims(reservation, two.get(0)));
        localHandOver.runOnce();
        rig.time.pass(Duration.ofMillis(10));
        rig.writer.runOnce();

        assertThat(rig.sent).hasSize(1);
        assertThat(localHandOver.reserve(orders(150)).messages()).hasSize(100);
    }

    @Test
    void onlyWhatAClaimWouldGetIsReserved() {
        Message later = Message.to("orders")
                .type("thing")
                .text("x")
                .deliverAt(Instant.parse("2500-01-01T00:00:00Z"))
                .build();

        assertThat(localHandOver.reserve(List.of(later, message("unknown")))).isSameAs(Reservation.NONE);
    }

    @Test
    void nothingIsReservedOnceClosed() {
        localHandOver.close();

        assertThat(localHandOver.reserve(List.of(order())))
                .as("it would be written under a lease only to be given back, with one more statement each")
                .isSameAs(Reservation.NONE);
    }

    @Test
    void orderedTopicsAreLeftToTheirLanes() {
        Topic ordered = Topic.named("orders").ordered().deliver(rig).build();

        LocalHandOver none = localHandOver(rig, DispatchOptions.builder().build(), List.of(ordered));

        assertThat(none.reserve(List.of(order()))).isSameAs(Reservation.NONE);
    }

    @Test
    void tenantsThatThisNodeDoesNotDeliverAreLeftToOthers() {
        Topic limited = Topic.named("orders").tenants(Set.of("a")).deliver(rig).build();
        LocalHandOver some = localHandOver(rig, DispatchOptions.builder().build(), List.of(limited));
        Message a = Message.to("orders").type("thing").text("x").tenant("a").build();
        Message b = Message.to("orders").type("thing").text("x").tenant("b").build();

        assertThat(some.reserve(List.of(order(), a, b)).messages()).containsExactly(a.id());
    }

    @Test
    void nothingIsReservedWhenSwitchedOff() {
        LocalHandOver off =
                localHandOver(rig, DispatchOptions.builder().handOver(false).build());

        assertThat(off.reserve(List.of(order()))).isSameAs(Reservation.NONE);
    }

    @Test
    void commitInTheLastTenthOfTheLeaseIsGivenBackByTheMonotonicClock() {
        givenBackAfter(() -> rig.time.passMonotonic(Duration.ofSeconds(27)));
    }

    @Test
    void commitInTheLastTenthOfTheLeaseIsGivenBackByTheWallClock() {
        givenBackAfter(() -> rig.time.passWall(Duration.ofSeconds(27)));
    }

    private void givenBackAfter(Runnable time) {
        Message message = order();
        Reservation reservation = localHandOver.reserve(List.of(message));
        time.run();

        reservation.committed(claims(reservation, message));
        localHandOver.runOnce();
        rig.time.pass(Duration.ofMillis(10));
        rig.writer.runOnce();

        assertThat(rig.sent).isEmpty();
        assertThat(rig.store.written)
                .hasOnlyElementsOfType(Outcome.Released.class)
                .hasSize(1);
    }

    @Test
    void slotIsFreeWhenTheLeaseIsOverAndALateCommitIsGivenBack() {
        List<Message> all = orders(100);
        Reservation stuck = localHandOver.reserve(all);
        rig.time.passMonotonic(Duration.ofSeconds(29));
        localHandOver.freeExpired();
        assertThat(localHandOver.reserve(List.of(order()))).isSameAs(Reservation.NONE);

        rig.time.passMonotonic(Duration.ofSeconds(1));
        localHandOver.freeExpired();
        queueIsEmpty();
        assertThat(localHandOver.reserve(orders(150)).messages()).hasSize(100);

        stuck.committed(claims(stuck, all.get(0)));
        localHandOver.runOnce();
        rig.time.pass(Duration.ofMillis(10));
        rig.writer.runOnce();
        assertThat(rig.sent).isEmpty();
        assertThat(rig.store.written)
                .hasOnlyElementsOfType(Outcome.Released.class)
                .hasSize(1);
        assertThat(localHandOver.reserve(List.of(order())))
                .as("its slot is not freed twice")
                .isSameAs(Reservation.NONE);
    }

    @Test
    void commitAfterTheEndReleasesItsMessagesWithoutDelayForTheCommittingThread() throws Exception {
        Message message = order();
        Reservation reservation = localHandOver.reserve(List.of(message));
        localHandOver.close();
        CountDownLatch committed = new CountDownLatch(1);
        CountDownLatch written = new CountDownLatch(1);
        rig.store.onSettle = outcomes -> {
            await(committed); // as a pool that has no second connection for the thread that commits
            written.countDown();
            return FakeStore.accept(outcomes);
        };

        reservation.committed(claims(reservation, message));
        committed.countDown();

        await(written);
        assertThat(rig.store.settles)
                .singleElement()
                .satisfies(outcomes -> assertThat(outcomes)
                        .hasOnlyElementsOfType(Outcome.Released.class)
                        .hasSize(1));
        assertThat(rig.inFlight.count()).isZero();
        localHandOver.runOnce();
        assertThat(rig.sent).isEmpty();
    }

    @Test
    void databaseThatCannotBeReachedAfterTheEndCausesNoError() {
        Message message = order();
        Reservation reservation = localHandOver.reserve(List.of(message));
        localHandOver.close();
        rig.store.onSettle = outcomes -> {
            throw FakeStore.unavailable();
        };

        reservation.committed(claims(reservation, message));

        assertThat(rig.inFlight.count()).isZero();
    }

    @Test
    void claimLeavesAQuarterOfWhatIsFreeWhileMessagesAreHandedOver() {
        localHandOver.reserve(List.of(order())).abandoned();
        AtomicInteger meanwhile = new AtomicInteger();
        rig.store.onClaim = request -> {
            meanwhile.set(localHandOver.reserve(orders(25)).messages().size());
            return rig.store.next("orders", 1, 3);
        };
        rig.scans.scanNow(rig.topic().name());
        rig.loop.runOnce();

        assertThat(rig.store.claims.get(0).limit()).isEqualTo(75);
        assertThat(meanwhile).hasValue(25);
    }

    @Test
    void claimTakesAllThatIsFreeOtherwise() {
        rig.store.enqueue("orders", 500);
        rig.scans.scanNow(rig.topic().name());

        rig.loop.runOnce();

        assertThat(rig.store.claims.get(0).limit()).isEqualTo(100);
    }

    @Test
    void newMessagesQueueBehindThoseThatFoundNoSlot() {
        rig.hush();
        Reservation all = localHandOver.reserve(orders(101));
        assertThat(all.messages()).hasSize(100);
        all.abandoned();

        assertThat(localHandOver.reserve(List.of(order())))
                .as("one is in the queue")
                .isSameAs(Reservation.NONE);

        rig.store.enqueue("orders", 1);
        rig.scans.scanNow(rig.topic().name());
        rig.loop.runOnce();
        assertThat(localHandOver.reserve(List.of(order())).messages())
                .as("it was claimed")
                .hasSize(1);
    }

    @Test
    void newMessagesQueueUpBehindABacklog() {
        rig.store.enqueue("orders", 150);
        rig.scans.scanNow(rig.topic().name());
        rig.loop.runOnce();
        rig.writer.runOnce();
        assertThat(localHandOver.reserve(List.of(order()))).isSameAs(Reservation.NONE);

        rig.loop.runOnce();
        rig.writer.runOnce();
        assertThat(localHandOver.reserve(List.of(order())).messages()).hasSize(1);
    }

    @Test
    void localHandOverIsNotWrittenInAHurry() {
        Message message = order();
        Reservation reservation = localHandOver.reserve(List.of(message));
        reservation.committed(claims(reservation, message));
        localHandOver.runOnce();

        assertThat(rig.writer.runOnce()).isEqualTo(Duration.ofMillis(10));
        assertThat(rig.store.settles).isEmpty();

        rig.time.pass(Duration.ofMillis(10));
        rig.writer.runOnce();
        assertThat(rig.store.settles).hasSize(1);
    }

    @Test
    void aQuarterOfTheSlotsIsEnoughToWrite() {
        List<Message> messages = orders(25);
        Reservation reservation = localHandOver.reserve(messages);
        reservation.committed(claims(reservation, messages.toArray(Message[]::new)));
        localHandOver.runOnce();

        rig.writer.runOnce();

        assertThat(rig.store.settles).extracting(List::size).containsExactly(25);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void queueIsEmpty() {
        rig.inFlight.claimed(rig.topic(), false);
    }

    private static LocalHandOver localHandOver(Rig rig, DispatchOptions options) {
        return localHandOver(rig, options, rig.topics);
    }

    private static LocalHandOver localHandOver(Rig rig, DispatchOptions options, List<Topic> topics) {
        return new LocalHandOver(
                rig.store, new NodeSettings(topics, options, rig.events::add), rig.inFlight, rig.pipeline, rig.time);
    }

    private static List<Claim> claims(Reservation reservation, Message... inserted) {
        List<Claim> claims = new ArrayList<>();
        for (Message message : inserted) {
            claims.add(new Claim(claims.size() + 1, message, 1, 0, reservation.lease()));
        }
        return claims;
    }

    private static List<Message> orders(int count) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(order());
        }
        return messages;
    }

    private static Message order() {
        return message("orders");
    }

    private static Message message(String topic) {
        return Message.to(topic).type("thing").text("payload").build();
    }
}
