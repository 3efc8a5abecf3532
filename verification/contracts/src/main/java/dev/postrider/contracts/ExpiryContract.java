package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.dispatch.ExpiryPolicy;
import dev.postrider.dispatch.Topic;
import dev.postrider.event.Event;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.transport.DeliveryResult;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The contract of messages that expire: none is delivered after its time, and none stays or blocks its key for ever. */
public abstract class ExpiryContract extends LaneFixture {

    private static final Instant PAST = Instant.parse("2020-02-03T04:05:06.123456Z");
    private static final Instant FUTURE = Instant.parse("2100-01-01T00:00:00Z");

    private final RecordingTransport transport = new RecordingTransport();

    private Postrider node(Consumer<Topic.Builder> change) {
        return postrider(builder -> builder.topic(topic, declared -> {
                    declared.deliver(transport).retry(RetryPolicy.constant(Duration.ofMinutes(10)));
                    change.accept(declared);
                })
                .listener(events::add));
    }

    private static StoredMessage stored(Postrider postrider, MessageId id) {
        return postrider.admin().find(id).orElseThrow();
    }

    private List<Event.Expired> expired() {
        return events.stream()
                .filter(Event.Expired.class::isInstance)
                .map(Event.Expired.class::cast)
                .toList();
    }

    @Test
    void expiredMessageIsADeadLetterAndCountsNoAttempt() throws SQLException {
        Postrider postrider = node(declared -> {});
        MessageId id = enqueue(postrider, message().expiresAt(PAST).build()).id();
        MessageId valid =
                enqueue(postrider, message().expiresAt(FUTURE).build()).id();

        assertThat(postrider.deliverDue()).as("attempts").isEqualTo(1);

        assertThat(transport.messages()).extracting(Message::id).containsExactly(valid);
        assertThat(stored(postrider, id)).satisfies(message -> {
            assertThat(message.state()).isEqualTo(State.DEAD);
            assertThat(message.reason()).isEqualTo("EXPIRED");
            assertThat(message.attempts()).isZero();
            assertThat(message.message().expiresAt()).isEqualTo(PAST);
            assertThat(message.lastError())
                    .contains("expired at " + message.message().expiresAt());
        });
        assertThat(expired()).singleElement().satisfies(event -> {
            assertThat(event.message().id()).isEqualTo(id);
            assertThat(event.attempts()).isZero();
            assertThat(event.removed()).isFalse();
        });
    }

    @Test
    void topicMayRemoveExpiredMessagesWhichAreNotArchived() throws SQLException {
        Postrider postrider = node(declared -> declared.onExpiry(ExpiryPolicy.REMOVE));
        enqueue(postrider, message().expiresAt(PAST).build());

        assertThat(postrider.deliverDue()).isZero();

        assertThat(transport.messages()).isEmpty();
        assertThat(live()).isZero();
        assertThat(archived()).isZero();
        assertThat(expired())
                .singleElement()
                .satisfies(event -> assertThat(event.removed()).isTrue());
    }

    @Test
    void removedHeadOfAnOrderedTopicIsNotArchivedAndItsKeyGoesOn() throws SQLException {
        Postrider postrider = node(declared -> declared.ordered().lanes(1).onExpiry(ExpiryPolicy.REMOVE));
        enqueue(postrider, ordered("a", 1).expiresAt(PAST).build());
        write(postrider, "a", 2);

        postrider.deliverDue();

        assertThat(transport.messages()).extracting(LaneFixture::number).containsExactly(2);
        assertThat(live()).isZero();
        assertThat(archived()).isEqualTo(1);
    }

    @Test
    void expiredMessageDoesNotStopItsKey() throws SQLException {
        Postrider postrider = node(declared -> declared.ordered().lanes(1));
        write(postrider, "a", 1);
        MessageId id =
                enqueue(postrider, ordered("a", 2).expiresAt(PAST).build()).id();
        write(postrider, "a", 3);

        postrider.deliverDue();

        assertThat(transport.messages()).extracting(LaneFixture::number).containsExactly(1, 3);
        assertThat(stored(postrider, id).reason()).isEqualTo("EXPIRED");
        assertThat(stored(postrider, id).attempts()).isZero();
        assertThat(postrider.admin().blockedKeys(topic, 10)).isEmpty();
    }

    @Test
    void headThatExpiresBeforeItsNextAttemptEndsThenAndItsKeyGoesOn() throws Exception {
        transport.answering(delivery ->
                number(delivery.message()) == 1 ? DeliveryResult.failed("busy") : DeliveryResult.delivered());
        Postrider postrider = node(declared -> declared.ordered().lanes(1));
        Instant soon = Instant.now().plusMillis(400);
        MessageId id =
                enqueue(postrider, ordered("a", 1).expiresAt(soon).build()).id();
        write(postrider, "a", 2);

        postrider.deliverDue();
        eventually("the key goes on", () -> {
            postrider.deliverDue();
            return live() == 1;
        });

        assertThat(Instant.now()).isAfterOrEqualTo(soon);
        assertThat(stored(postrider, id).reason()).isEqualTo("EXPIRED");
        assertThat(transport.messages()).extracting(LaneFixture::number).endsWith(2);
        assertThat(transport.messages().size())
                .as("the first one is attempted at most once")
                .isLessThanOrEqualTo(2);
        assertThat(stored(postrider, id).attempts())
                .isEqualTo(transport.messages().size() - 1);
    }

    @Test
    void retryingMessageOfAnUnorderedTopicEndsWhenItExpires() throws Exception {
        transport.answering(delivery -> DeliveryResult.failed("busy"));
        Postrider postrider = node(declared -> {});
        MessageId id = enqueue(
                        postrider,
                        message().expiresAt(Instant.now().plusMillis(400)).build())
                .id();

        postrider.deliverDue();
        eventually("it ends", () -> {
            postrider.deliverDue();
            return stored(postrider, id).state() == State.DEAD;
        });

        assertThat(stored(postrider, id).reason()).isEqualTo("EXPIRED");
        assertThat(transport.messages()).hasSizeLessThanOrEqualTo(1);
        assertThat(stored(postrider, id).attempts())
                .isEqualTo(transport.messages().size());
    }

    @Test
    void handlerIsNotCalledForAnExpiredMessage() throws SQLException {
        List<String> handled = new CopyOnWriteArrayList<>();
        Postrider postrider = postrider(builder ->
                builder.topic(topic, declared -> declared.process((message, work) -> handled.add(message.type()))));
        MessageId id = enqueue(postrider, message().type("late").expiresAt(PAST).build())
                .id();
        enqueue(postrider, message().type("valid").expiresAt(FUTURE).build());

        postrider.deliverDue();

        assertThat(handled).containsExactly("valid");
        assertThat(stored(postrider, id).reason()).isEqualTo("EXPIRED");
        assertThat(stored(postrider, id).attempts()).isZero();
    }

    @Test
    void messageThatExpiresBehindAnotherOneOfItsTransactionIsNotHandled() throws SQLException {
        List<String> handled = new CopyOnWriteArrayList<>();
        Instant soon = Instant.now().plusMillis(300);
        Postrider postrider = postrider(builder -> builder.topic(
                topic,
                declared -> declared.handlersPerTransaction(2).process((message, work) -> {
                    handled.add(message.type());
                    eventually("the other one has expired", () -> Instant.now().isAfter(soon.plusMillis(50)));
                })));
        enqueue(postrider, message().type("first").build());
        MessageId id = enqueue(
                        postrider, message().type("second").expiresAt(soon).build())
                .id();

        postrider.deliverDue();

        assertThat(handled).containsExactly("first");
        assertThat(live()).isEqualTo(1);
        assertThat(stored(postrider, id).reason()).isEqualTo("EXPIRED");
    }

    @Test
    void expiredMessageOfTheLocalHandOverCountsNoAttempt() throws Exception {
        Postrider postrider = node(declared -> {});
        postrider.start();
        Message late = message().expiresAt(PAST).build();

        postrider.inTransaction(work -> work.stage(late));

        eventually("it ends", () -> stored(postrider, late.id()).state() == State.DEAD);
        assertThat(stored(postrider, late.id()).reason()).isEqualTo("EXPIRED");
        assertThat(stored(postrider, late.id()).attempts()).isZero();
        assertThat(transport.messages()).isEmpty();
    }

    @Test
    void loopOfTheApplicationEndsAnExpiredMessage() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = enqueue(postrider, message().expiresAt(PAST).build()).id();
        Claim claim = claim(postrider).get(0);
        assertThat(claim.message().expiresAt()).isNotNull();

        assertThat(postrider.store().expire(claim).isLost()).isFalse();

        assertThat(stored(postrider, id).reason()).isEqualTo("EXPIRED");
        assertThat(stored(postrider, id).attempts()).isZero();
    }

    @Test
    void lostLeaseDoesNotEndAnExpiredMessage() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, message().expiresAt(PAST).build());
        Claim old = claim(postrider).get(0);
        advance(LONGER_THAN_A_LEASE);
        assertThat(claim(postrider)).hasSize(1);

        assertThat(postrider.store().expire(old).isLost()).isTrue();

        assertThat(column("state")).isEqualTo("PROCESSING");
    }

    @Test
    void messageOfAPausedTopicStaysUntilTheTopicIsResumed() throws SQLException {
        Postrider postrider = node(declared -> {});
        MessageId id = enqueue(postrider, message().expiresAt(PAST).build()).id();
        postrider.admin().pause(topic, "ann");

        postrider.deliverDue();
        assertThat(stored(postrider, id).state()).isEqualTo(State.PENDING);

        postrider.admin().resume(topic, "ann");
        postrider.deliverDue();
        assertThat(stored(postrider, id).reason()).isEqualTo("EXPIRED");
    }

    @Test
    void expiredMessageIsNotReplayed() throws SQLException {
        Postrider postrider = node(declared -> {});
        MessageId id = enqueue(postrider, message().expiresAt(PAST).build()).id();
        postrider.deliverDue();

        assertThat(postrider.admin().replay(id, "ann")).isEqualTo(Repair.WRONG_STATE);
        assertThat(postrider.admin().apply(Action.REPLAY, Filter.dead().topic(topic), Change.by("ann")))
                .isEqualTo(new ChangeResult(0, 1, null, List.of()));

        assertThat(stored(postrider, id).state()).isEqualTo(State.DEAD);
    }
}
