package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Change;
import dev.postrider.admin.FailedAttempt;
import dev.postrider.admin.Filter;
import dev.postrider.admin.StoredMessage;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.transport.DeliveryResult;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The contract of the history of failed attempts: every failure is in it, and it costs a message that never failed nothing. */
public abstract class FailedAttemptContract extends LaneFixture {

    private static final Change ANN = Change.by("ann");

    private static List<FailedAttempt> failed(Postrider postrider, MessageId id) {
        return postrider.admin().explain(id).orElseThrow().failedAttempts();
    }

    private Claim claimOne(Postrider postrider) {
        List<Claim> claims = claim(postrider);
        assertThat(claims).hasSize(1);
        return claims.get(0);
    }

    private MessageId failThreeTimes(Postrider postrider) throws SQLException {
        enqueue(postrider, 1);
        postrider.store().reschedule(claimOne(postrider), Duration.ZERO, "503 from\nthe gateway, token=s3cret");
        postrider.store().reschedule(claimOne(postrider), Duration.ZERO, "no \"route\" to C:\\host {1} ä€😀");
        Claim last = claimOne(postrider);
        postrider.store().bury(last, DeadReason.REJECTED, "410 gone");
        return last.message().id();
    }

    @Test
    void everyFailedAttemptIsShownTheNewestFirst() throws SQLException {
        Postrider postrider = postrider();

        MessageId id = failThreeTimes(postrider);

        List<FailedAttempt> attempts = failed(postrider, id);
        assertThat(attempts).extracting(FailedAttempt::attempt).containsExactly(3, 2, 1);
        assertThat(attempts)
                .extracting(FailedAttempt::error)
                .containsExactly("410 gone", "no \"route\" to C:\\host {1} ä€😀", "503 from the gateway, token=***");
        assertThat(attempts).extracting(FailedAttempt::node).containsOnly("worker");
        assertThat(attempts).extracting(FailedAttempt::took).containsOnlyNulls();
        assertThat(attempts)
                .allSatisfy(attempt -> assertThat(
                                Duration.between(attempt.at(), Instant.now()).abs())
                        .isLessThan(Duration.ofMinutes(5)));
        assertThat(attempts.get(0).at()).isAfterOrEqualTo(attempts.get(2).at());
        assertThat(attempts.get(0).fingerprint())
                .isEqualTo(postrider.admin().find(id).orElseThrow().fingerprint());
        assertThat(attempts).extracting(FailedAttempt::fingerprint).doesNotHaveDuplicates();
    }

    @Test
    void historyIsKeptByAReplayAndInTheArchive() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = failThreeTimes(postrider);
        List<FailedAttempt> before = failed(postrider, id);

        postrider.admin().apply(Action.REPLAY, id, ANN);
        Claim again = claimOne(postrider);
        assertThat(again.attempt()).isEqualTo(1);
        assertThat(failed(postrider, id)).isEqualTo(before);
        postrider.store().reschedule(again, Duration.ZERO, "again");
        postrider.store().acknowledge(claimOne(postrider));

        assertThat(postrider.admin().find(id).orElseThrow().state()).isEqualTo(StoredMessage.State.DELIVERED);
        assertThat(failed(postrider, id)).hasSize(4);
        assertThat(failed(postrider, id).get(0).error()).isEqualTo("again");
        assertThat(failed(postrider, id).subList(1, 4)).isEqualTo(before);
    }

    @Test
    void historyIsGoneWithADiscardedMessage() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = failThreeTimes(postrider);

        postrider.admin().apply(Action.DISCARD, id, ANN);

        assertThat(postrider.admin().explain(id)).isEmpty();
    }

    @Test
    void messageThatNeverFailedHasNoHistory() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim claim = claimOne(postrider);
        assertThat(failed(postrider, claim.message().id())).isEmpty();
        assertThat(column("failed_attempts")).isEqualTo("null");

        postrider.store().acknowledge(claim);

        assertThat(failed(postrider, claim.message().id())).isEmpty();
        assertThat(query("SELECT failed_attempts FROM postrider_archive WHERE topic = '" + topic + "'"))
                .isEqualTo("null");
    }

    @Test
    void releasedMessageWasNotAttempted() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);

        postrider.store().release(claimOne(postrider));

        assertThat(column("failed_attempts")).isEqualTo("null");
    }

    @Test
    void lossOfANodeIsAFailedAttemptOfThatNode() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        MessageId id = claimOne(postrider).message().id();
        advance(LONGER_THAN_A_LEASE);
        List<Claim> second = postrider.store().claim(ClaimRequest.of(topic, "second"));
        assertThat(second).hasSize(1);
        advance(LONGER_THAN_A_LEASE);

        assertThat(postrider.store().sweep(TopicName.of(topic), 2, 10)).isEqualTo(1);

        List<FailedAttempt> attempts = failed(postrider, id);
        assertThat(attempts).extracting(FailedAttempt::attempt).containsExactly(2, 1);
        assertThat(attempts).extracting(FailedAttempt::node).containsExactly("second", "worker");
        assertThat(attempts).allSatisfy(attempt -> assertThat(attempt.error()).contains("The node was lost"));
    }

    @Test
    void historyIsBoundedAndKeepsTheNewestAttempts() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        @Nullable MessageId id = null;
        for (int attempt = 1; attempt <= 40; attempt++) {
            Claim claim = postrider.store().claim(request().maxAttempts(100)).get(0);
            id = claim.message().id();
            postrider.store().reschedule(claim, Duration.ZERO, attempt + " \\\"\t€ ".repeat(200));
        }

        assertThat(Integer.parseInt(column("CHAR_LENGTH(failed_attempts)"))).isLessThanOrEqualTo(4000);
        List<FailedAttempt> attempts = failed(postrider, Objects.requireNonNull(id));
        assertThat(attempts).hasSizeGreaterThan(3);
        for (int i = 0; i < attempts.size(); i++) {
            assertThat(attempts.get(i).attempt()).isEqualTo(40 - i);
            assertThat(attempts.get(i).error()).startsWith(40 - i + " ").hasSizeLessThanOrEqualTo(300);
        }
    }

    @Test
    void headOfABlockedKeyHasItsHistoryToo() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1);
        write(postrider, "b", 2);
        List<LaneClaim> claims = node.read();
        node.settle(
                new Outcome.Retry(claims.get(0).claim(), Duration.ZERO, "busy", Duration.ofMillis(1234)),
                blocked(claims.get(1)),
                new LaneOutcome.RetryOutOfOrder(claims.get(2).claim(), Duration.ofMinutes(1), "out of order"));
        LaneClaim again = node.timed().get(0);
        node.settle(new LaneOutcome.Parked(again.claim(), DeadReason.REJECTED, "rejected"));

        MessageId head = claims.get(0).claim().message().id();
        assertThat(failed(postrider, head))
                .extracting(FailedAttempt::attempt, FailedAttempt::error, FailedAttempt::node, FailedAttempt::took)
                .containsExactly(
                        tuple(2, "rejected", "worker", null), tuple(1, "busy", "worker", Duration.ofMillis(1234)));
        assertThat(failed(postrider, claims.get(1).claim().message().id())).isEmpty();
        assertThat(failed(postrider, claims.get(2).claim().message().id()))
                .extracting(FailedAttempt::error)
                .containsExactly("out of order");

        assertThat(postrider
                        .admin()
                        .apply(
                                Action.REPLAY,
                                Filter.in(StoredMessage.State.PARKED).topic(topic),
                                ANN))
                .satisfies(result -> assertThat(result.changed()).isEqualTo(1));
        Holder next = takeOver();
        next.deliver(next.timed().stream()
                .filter(claim -> claim.claim().message().id().equals(head))
                .toList());

        assertThat(postrider.admin().find(head).orElseThrow().state()).isEqualTo(StoredMessage.State.DELIVERED);
        assertThat(failed(postrider, head)).hasSize(2);
    }

    @Test
    void nodeRecordsHowLongADeliveryTook() throws Exception {
        String handled = topic + "-handled";
        RecordingTransport transport =
                new RecordingTransport().answering(delivery -> DeliveryResult.rejected("not today"));
        Postrider node = postrider(builder -> builder.topic(topic, declared -> declared.deliver(transport))
                .topic(
                        handled,
                        declared -> declared.maxAttempts(1).process((message, work) -> {
                            throw new IllegalStateException("never");
                        })));
        MessageId byTransport = message().build().id();
        MessageId byHandler = MessageId.next();
        enqueue(node, message().id(byTransport).build());
        enqueue(node, Message.to(handled).id(byHandler).type("x").json("{}").build());

        node.start();

        eventually(
                "both are dead",
                () -> node.admin().deadLetters(TopicName.of(topic), 0, 10).size()
                                + node.admin()
                                        .deadLetters(TopicName.of(handled), 0, 10)
                                        .size()
                        == 2);
        for (MessageId id : List.of(byTransport, byHandler)) {
            assertThat(failed(node, id)).singleElement().satisfies(attempt -> {
                assertThat(attempt.took()).isNotNull().isLessThan(Duration.ofMinutes(1));
                assertThat(attempt.node()).isNotBlank();
                assertThat(attempt.fingerprint())
                        .isEqualTo(node.admin().find(id).orElseThrow().fingerprint());
            });
        }
    }

    @Test
    void linesThatOtherSoftwareWroteAreLeftOut() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = failThreeTimes(postrider);

        execute("UPDATE postrider_message SET failed_attempts = CONCAT('rubbish', failed_attempts) WHERE topic = '"
                + topic + "'");

        assertThat(failed(postrider, id)).extracting(FailedAttempt::attempt).containsExactly(2, 1);
    }
}
