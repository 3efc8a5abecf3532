package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.DeadReason;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The contract of claims: which node has the lease of a message, how long, and what is refused after the lease is lost. */
public abstract class ClaimingContract extends DatabaseContract {

    private static final Duration LEASE = Duration.ofSeconds(30);

    @Test
    void claimLeasesDueMessagesInTheOrderTheyCameDue() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 5);

        List<Claim> claims = claim(postrider);

        assertThat(claims)
                .extracting(claim -> claim.message().payload().asText())
                .containsExactly("{\"n\":0}", "{\"n\":1}", "{\"n\":2}", "{\"n\":3}", "{\"n\":4}");
        assertThat(claims).allSatisfy(claim -> {
            assertThat(claim.attempt()).isEqualTo(1);
            assertThat(claim.crashes()).isZero();
        });
        assertThat(claim(postrider)).as("leased to no other node").isEmpty();
    }

    @Test
    void everyClaimHasATokenOfItsOwn() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 2);

        Claim first = postrider.store().claim(request().limit(1)).get(0);
        Claim second = postrider.store().claim(request().limit(1)).get(0);

        assertThat(first.lease().token()).isNotEqualTo(second.lease().token());
    }

    @Test
    void limitAndByteBudgetBoundAClaim() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 10);

        assertThat(postrider.store().claim(request().limit(3))).hasSize(3);
        assertThat(postrider.store().claim(request().maxBytes(15)))
                .as("7 bytes each")
                .hasSize(3);
        assertThat(postrider.store().claim(request().maxBytes(1)))
                .as("at least one")
                .hasSize(1);
    }

    @Test
    void twoWorkersGetFullBatchesOfDifferentMessagesWhileInsertsGoOn() throws Exception {
        needsConcurrency();
        Postrider postrider = postrider();
        enqueue(postrider, 1000);
        AtomicBoolean done = new AtomicBoolean();
        CyclicBarrier barrier = new CyclicBarrier(3);
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            Callable<Set<Long>> worker = () -> {
                Set<Long> held = new HashSet<>();
                for (int round = 0; round < 5; round++) {
                    barrier.await();
                    List<Claim> claims = postrider.store().claim(request().limit(100));
                    assertThat(claims).hasSize(100);
                    claims.forEach(claim -> held.add(claim.seq()));
                    barrier.await();
                }
                done.set(true);
                return held;
            };
            Callable<Integer> producer = () -> {
                int written = 0;
                for (int round = 0; round < 5; round++) {
                    barrier.await();
                    for (int i = 0; i < 5; i++) {
                        enqueue(postrider, message().build());
                        written++;
                    }
                    barrier.await();
                }
                return written;
            };
            Future<Set<Long>> first = threads.submit(worker);
            Future<Set<Long>> second = threads.submit(worker);
            Future<Integer> inserts = threads.submit(producer);

            Set<Long> all = new HashSet<>(first.get());
            all.addAll(second.get());
            assertThat(all).as("no message twice").hasSize(1000);
            assertThat(inserts.get()).isEqualTo(25);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void openClaimOfOneWorkerDoesNotHideOtherRows() throws SQLException {
        needsConcurrency();
        Postrider postrider = postrider();
        enqueue(postrider, 20);
        try (Connection other = transaction()) {
            other.createStatement()
                    .executeQuery("SELECT seq FROM postrider_message WHERE topic = '" + topic
                            + "' ORDER BY seq LIMIT 5 FOR UPDATE")
                    .next();
            assertThat(claim(postrider)).as("the locked ones are passed over").hasSize(15);
            other.rollback();
        }
    }

    @Test
    void expiredLeaseIsClaimedAgainAndOnlyThen() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim lost = claim(postrider).get(0);

        advance(LEASE.minusSeconds(15));
        assertThat(claim(postrider)).isEmpty();

        advance(Duration.ofSeconds(16));
        Claim again = claim(postrider).get(0);
        assertThat(again.message().id()).isEqualTo(lost.message().id());
        assertThat(again.attempt()).isEqualTo(2);
        assertThat(again.crashes()).isEqualTo(1);
        assertThat(again.lease().token()).isNotEqualTo(lost.lease().token());
    }

    @Test
    void lostLeaseCannotAcknowledge() throws SQLException {
        lostLeaseChangesNothing((postrider, lost) -> postrider.store().acknowledge(lost));
    }

    @Test
    void lostLeaseCannotReschedule() throws SQLException {
        lostLeaseChangesNothing((postrider, lost) -> postrider.store().reschedule(lost, Duration.ZERO, "late"));
    }

    @Test
    void lostLeaseCannotBury() throws SQLException {
        lostLeaseChangesNothing((postrider, lost) -> postrider.store().bury(lost, DeadReason.REJECTED, "late"));
    }

    @Test
    void lostLeaseCannotRelease() throws SQLException {
        lostLeaseChangesNothing((postrider, lost) -> postrider.store().release(lost));
    }

    @Test
    void lostLeaseCannotExtend() throws SQLException {
        lostLeaseChangesNothing((postrider, lost) ->
                postrider.store().extend(List.of(lost), LEASE).get(0));
    }

    @FunctionalInterface
    private interface Late {
        Settlement act(Postrider postrider, Claim lost);
    }

    private void lostLeaseChangesNothing(Late late) throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim lost = claim(postrider).get(0);
        advance(LEASE.plusSeconds(1));
        Claim holder = claim(postrider).get(0);
        String until = column("locked_until");

        Settlement answer = late.act(postrider, lost);

        assertThat(answer).isInstanceOfSatisfying(Settlement.LeaseLost.class, result -> {
            assertThat(result.finished()).isFalse();
            assertThat(result.id()).isEqualTo(lost.message().id());
        });
        assertThat(column("state")).isEqualTo("PROCESSING");
        assertThat(column("attempts")).isEqualTo("2");
        assertThat(column("locked_until")).isEqualTo(until);
        assertThat(postrider.store().acknowledge(holder).isLost()).isFalse();
    }

    @Test
    void lateOutcomeOfAFinishedMessageSaysSo() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim lost = claim(postrider).get(0);
        advance(LEASE.plusSeconds(1));
        postrider.store().acknowledge(claim(postrider).get(0));

        assertThat(postrider.store().acknowledge(lost))
                .isInstanceOfSatisfying(
                        Settlement.LeaseLost.class,
                        result -> assertThat(result.finished()).isTrue());
        assertThat(archived()).isEqualTo(1);
    }

    @Test
    void outcomesUnderTheOldAndTheNewLeaseOfOneMessageAreToldApartInOneBatch() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 2);
        List<Claim> old = claim(postrider);
        advance(LEASE.plusSeconds(1));
        List<Claim> renewed = claim(postrider);
        assertThat(renewed)
                .extracting(Claim::seq)
                .containsExactlyInAnyOrder(old.get(0).seq(), old.get(1).seq());
        Claim current = renewed.stream()
                .filter(claim -> claim.seq() == old.get(0).seq())
                .findFirst()
                .orElseThrow();

        List<Settlement> answers = postrider
                .store()
                .settle(List.of(
                        new Outcome.Delivered(old.get(1)),
                        new Outcome.Delivered(old.get(0)),
                        new Outcome.Delivered(current)));

        assertThat(answers).extracting(Settlement::isLost).containsExactly(true, true, false);
        assertThat(live()).as("the other message still has its new lease").isEqualTo(1);
    }

    @Test
    void expiredButNotReclaimedLeaseIsAccepted() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim claim = claim(postrider).get(0);
        advance(LEASE.multipliedBy(2));

        assertThat(postrider.store().acknowledge(claim).isLost()).isFalse();
        assertThat(live()).isZero();
    }

    @Test
    void extendedLeaseLastsFromNowOn() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim claim = claim(postrider).get(0);
        advance(Duration.ofSeconds(20));

        assertThat(postrider.store().extend(List.of(claim), LEASE).get(0).isLost())
                .isFalse();

        advance(Duration.ofSeconds(20));
        assertThat(claim(postrider)).isEmpty();
        advance(Duration.ofSeconds(11));
        assertThat(claim(postrider)).hasSize(1);
    }

    @Test
    void acknowledgedMessageLeavesTheQueueForTheArchive() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);

        assertThat(postrider.store().acknowledge(claim(postrider).get(0)).isLost())
                .isFalse();

        assertThat(live()).isZero();
        assertThat(archived()).isEqualTo(1);
        advance(Duration.ofHours(1));
        assertThat(claim(postrider)).as("delivered is final").isEmpty();
    }

    @Test
    void releasedMessageIsDueAtOnceAndItsAttemptIsGivenBack() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);

        postrider.store().release(claim(postrider).get(0));

        assertThat(column("attempts")).isEqualTo("0");
        assertThat(claim(postrider).get(0).attempt()).isEqualTo(1);
    }

    @Test
    void rescheduledMessageComesBackAfterItsDelayWithItsError() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);

        postrider.store().reschedule(claim(postrider).get(0), Duration.ofSeconds(60), "no route");

        assertThat(column("state")).isEqualTo("PENDING");
        assertThat(column("last_error")).isEqualTo("no route");
        assertThat(claim(postrider)).isEmpty();
        advance(Duration.ofSeconds(50));
        assertThat(claim(postrider)).isEmpty();
        advance(Duration.ofSeconds(11));
        assertThat(claim(postrider)).singleElement().satisfies(claim -> {
            assertThat(claim.attempt()).isEqualTo(2);
            assertThat(claim.crashes()).isZero();
        });
    }

    @Test
    void buriedMessageIsDeadWithReasonErrorAndFingerprint() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);

        postrider.store().bury(claim(postrider).get(0), DeadReason.REJECTED, "410 gone");

        assertThat(column("state")).isEqualTo("DEAD");
        assertThat(column("reason")).isEqualTo("REJECTED");
        assertThat(column("last_error")).isEqualTo("410 gone");
        assertThat(column("fingerprint")).hasSize(16);
        advance(Duration.ofDays(365));
        assertThat(claim(postrider)).isEmpty();
    }

    @Test
    void hostileErrorTextIsCleanedAndCutBeforeItIsStored() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        String hostile = "NUL \u0000 ansi \u001B[31m half \uD83D emoji 😀 password=hunter2 " + "x".repeat(1_000_000);

        assertThat(postrider
                        .store()
                        .reschedule(claim(postrider).get(0), Duration.ZERO, hostile)
                        .isLost())
                .isFalse();

        assertThat(column("last_error"))
                .hasSizeLessThanOrEqualTo(2001)
                .startsWith("NUL")
                .contains("😀")
                .doesNotContain("\u0000", "\u001B", "hunter2");
    }

    @Test
    void mixedOutcomesAreWrittenTogetherAndALostLeaseSpoilsNoOther() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 5);
        List<Claim> claims = claim(postrider);
        execute("DELETE FROM postrider_message WHERE seq = " + claims.get(4).seq());

        List<Settlement> answers = postrider
                .store()
                .settle(List.of(
                        new Outcome.Delivered(claims.get(0)),
                        new Outcome.Delivered(claims.get(4)),
                        new Outcome.Retry(claims.get(1), Duration.ofMinutes(1), "later"),
                        new Outcome.Buried(claims.get(2), DeadReason.REJECTED, "never"),
                        new Outcome.Released(claims.get(3))));

        assertThat(answers).extracting(Settlement::isLost).containsExactly(false, true, false, false, false);
        assertThat(live()).isEqualTo(3);
        assertThat(archived()).isEqualTo(1);
    }

    @Test
    void twoOutcomesOfOneClaimAreRefusedAndNothingIsWritten() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 2);
        List<Claim> claims = claim(postrider);
        Claim twice = claims.get(1);

        assertThatThrownBy(() -> postrider
                        .store()
                        .settle(List.of(
                                new Outcome.Delivered(claims.get(0)),
                                new Outcome.Retry(twice, Duration.ofMinutes(1), "later"),
                                new Outcome.Delivered(twice))))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining(twice.message().id().toString());

        assertThat(live()).isEqualTo(2);
        assertThat(postrider.store().acknowledge(twice).isLost()).isFalse();
    }

    @Test
    @SuppressWarnings("NullAway") // like an application without NullAway
    void callThatMakesNoSenseIsRefusedAndNothingIsWritten() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim claim = claim(postrider).get(0);
        MessageStore store = postrider.store();
        TopicName name = TopicName.of(topic);
        List<ThrowingCallable> calls = List.of(
                () -> store.reschedule(claim, Duration.ofMillis(-1), "busy"),
                () -> store.reschedule(claim, Outcome.LONGEST_DELAY.plusNanos(1), "busy"),
                () -> store.reschedule(claim, Duration.ofSeconds(Long.MAX_VALUE), "busy"),
                () -> store.reschedule(claim, null, "busy"),
                () -> store.reschedule(claim, Duration.ZERO, null),
                () -> store.bury(claim, null, "no"),
                () -> store.bury(claim, DeadReason.REJECTED, null),
                () -> store.acknowledge(null),
                () -> store.release(null),
                () -> postrider.nack(claim, null),
                () -> postrider.nack(null, "busy"),
                () -> store.extend(List.of(claim), Duration.ofSeconds(-1)),
                () -> store.extend(List.of(claim), Duration.ZERO),
                () -> store.extend(List.of(claim), Duration.ofDays(2)),
                () -> store.extend(List.of(claim), null),
                () -> store.sweep(name, 1, -1),
                () -> store.sweep(name, 0, 1));

        assertThat(calls)
                .allSatisfy(call -> assertThatThrownBy(call).isInstanceOf(InvalidConfigurationException.class));

        assertThat(store.reschedule(claim, Outcome.LONGEST_DELAY, "busy").isLost())
                .as("the longest there is")
                .isFalse();
    }

    @Test
    void messageLostOnItsLastAttemptIsSweptAndNotClaimed() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        TopicName name = TopicName.of(topic);
        ClaimRequest once = request().maxAttempts(1);
        postrider.store().claim(once);
        assertThat(postrider.store().sweep(name, 1, 100)).as("still leased").isZero();
        advance(LEASE.plusSeconds(1));

        assertThat(postrider.store().claim(once)).isEmpty();
        assertThat(postrider.store().sweep(name, 1, 100)).isEqualTo(1);

        assertThat(column("state")).isEqualTo("DEAD");
        assertThat(column("reason")).isEqualTo("WORKER_LOST");
        assertThat(column("crashes")).isEqualTo("1");
    }

    @Test
    void dueMessageThatHasHadItsAttemptsIsBuriedAndNotClaimed() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        for (int attempt = 1; attempt <= 2; attempt++) {
            Claim claim = postrider.store().claim(request().maxAttempts(2)).get(0);
            postrider.store().reschedule(claim, Duration.ZERO, "busy");
        }

        assertThat(postrider.store().claim(request().maxAttempts(2))).isEmpty();

        assertThat(column("state")).isEqualTo("DEAD");
        assertThat(column("reason")).isEqualTo("ATTEMPTS_EXHAUSTED");
    }

    @Test
    void nackAppliesThePolicyAndTheLimitOfTheTopic() throws SQLException {
        Postrider postrider = postrider(builder -> builder.topic(
                topic, declared -> declared.maxAttempts(2).retry(RetryPolicy.constant(Duration.ofMinutes(10)))));
        enqueue(postrider, 1);

        assertThat(postrider.nack(claim(postrider).get(0), "busy")).isInstanceOf(Settlement.Settled.class);
        assertThat(column("state")).isEqualTo("PENDING");
        assertThat(column("last_error")).isEqualTo("busy");
        assertThat(claim(postrider)).isEmpty();
        advance(Duration.ofMinutes(11));

        postrider.nack(claim(postrider).get(0), "still busy");
        assertThat(column("state")).isEqualTo("DEAD");
        assertThat(column("reason")).isEqualTo("ATTEMPTS_EXHAUSTED");
        assertThat(column("last_error")).isEqualTo("still busy");
    }

    @Test
    void scheduledMessageWaitsForItsTime() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, message().deliverAt(Instant.now().plusSeconds(3600)).build());

        assertThat(claim(postrider)).isEmpty();
        advance(Duration.ofMinutes(59));
        assertThat(claim(postrider)).isEmpty();
        advance(Duration.ofMinutes(2));
        assertThat(claim(postrider)).hasSize(1);
    }

    @Test
    void messageScheduledInThePastIsDueNow() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, message().deliverAt(Instant.EPOCH).build());

        assertThat(claim(postrider)).hasSize(1);
    }

    @Test
    void pausedTopicIsNotClaimedUntilItIsResumed() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);

        postrider.admin().pause(TopicName.of(topic), "me");
        assertThat(claim(postrider)).isEmpty();
        assertThat(postrider.store().nextDue(List.of(TopicName.of(topic)))).isEmpty();

        postrider.admin().resume(TopicName.of(topic), "me");
        assertThat(claim(postrider)).hasSize(1);
    }

    @Test
    void claimForOneTenantDoesNotMoveWhereAClaimForAnotherBegins() throws SQLException {
        Postrider postrider = postrider();
        Message first = message().tenant("b").build();
        enqueue(postrider, first);
        for (int i = 0; i < 20; i++) {
            enqueue(postrider, message().tenant("a").build());
        }
        for (int i = 0; i < 20; i++) {
            assertThat(postrider.store().claim(request().tenants(Set.of("a")).limit(1)))
                    .as("as many as requested, so the next scan begins exactly there")
                    .hasSize(1);
        }

        assertThat(postrider.store().claim(request().tenants(Set.of("b"))))
                .extracting(Claim::message)
                .containsExactly(first);
    }

    @Test
    void claimCanBeLimitedToTenants() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, message().tenant("a").build());
        enqueue(postrider, message().tenant("b").build());
        enqueue(postrider, message().tenant("A").build());
        enqueue(postrider, message().build());

        assertThat(postrider.store().claim(request().tenants(Set.of("a"))))
                .extracting(claim -> claim.message().tenant())
                .containsExactly("a");
        assertThat(postrider.store().claim(request().tenants(Set.of("b", "c", "d"))))
                .hasSize(1);
        assertThat(claim(postrider)).hasSize(2);
    }

    @Test
    void claimTouchesNoOtherTopic() throws SQLException {
        Postrider postrider = postrider(builder -> builder.topic(topic).topic(topic + "-other"));
        enqueue(postrider, Message.to(topic + "-other").type("x").text("y").build());

        assertThat(claim(postrider)).isEmpty();
        assertThatThrownBy(() -> postrider.store().claim(ClaimRequest.of("unheard-of", "worker")))
                .isInstanceOf(UnknownTopicException.class)
                .hasMessageContaining("unheard-of");
    }

    @Test
    void nextDueTellsWhenThereIsSomethingToClaim() throws SQLException {
        Postrider postrider = postrider();
        List<TopicName> topics = List.of(TopicName.of(topic));
        assertThat(postrider.store().nextDue(topics)).isEmpty();

        enqueue(postrider, message().deliverAt(Instant.now().plusSeconds(3600)).build());
        Map<TopicName, Duration> later = postrider.store().nextDue(topics);
        assertThat(later.get(topics.get(0))).isBetween(Duration.ofMinutes(58), Duration.ofMinutes(61));

        enqueue(postrider, 1);
        assertThat(postrider.store().nextDue(topics)).containsEntry(topics.get(0), Duration.ZERO);

        claim(postrider);
        assertThat(postrider.store().nextDue(topics).get(topics.get(0)))
                .as("until the lease runs out")
                .isBetween(Duration.ofSeconds(20), LEASE);
    }

    @Test
    void messageOfATransactionThatCommitsLateIsStillFound() throws SQLException {
        needsConcurrency();
        Postrider postrider = postrider();
        try (Connection slow = transaction()) {
            postrider.outbox(slow).enqueue(message().json("{\"late\":true}").build());
            enqueue(postrider, 3);
            assertThat(claim(postrider)).hasSize(3);
            slow.commit();
        }
        List<Claim> found = List.of();
        Instant deadline = Instant.now().plusSeconds(25); // before the leases of the other messages expire
        while (found.isEmpty() && Instant.now().isBefore(deadline)) {
            found = claim(postrider);
        }
        assertThat(found)
                .extracting(claim -> claim.message().payload().asText())
                .containsExactly("{\"late\":true}");
    }

    @Test
    void rowThatMakesNoMessageIsBuriedAndItsNeighboursAreClaimed() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 3);
        execute("UPDATE postrider_message SET attributes = 'not json' WHERE topic = '" + topic + "' AND seq = "
                + query("SELECT MIN(seq) FROM postrider_message WHERE topic = '" + topic + "'"));

        assertThat(claim(postrider)).hasSize(2);

        assertThat(query("SELECT reason FROM postrider_message WHERE state = 'DEAD' AND topic = '" + topic + "'"))
                .isEqualTo("UNREADABLE");
    }

    @Test
    void largestNumberOfAttemptsInARowOfOtherSoftwareStopsNoClaim() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 3);
        String first = query("SELECT MIN(seq) FROM postrider_message WHERE topic = '" + topic + "'");
        execute("UPDATE postrider_message SET attempts = 2147483647, crashes = 2147483647 WHERE seq = " + first);

        assertThat(claim(postrider)).hasSizeGreaterThanOrEqualTo(2);

        assertThat(query("SELECT attempts FROM postrider_message WHERE seq = " + first))
                .isEqualTo("2147483647");
        assertThat(query("SELECT COUNT(*) FROM postrider_message WHERE state = 'PENDING' AND topic = '" + topic + "'"))
                .isEqualTo("0");
    }
}
