package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import dev.postrider.outbox.Enqueued;
import dev.postrider.store.Claim;
import dev.postrider.store.Outcome;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The contract of redelivery: delivered messages go from the archive to the queue again, each once. */
public abstract class RedeliveryContract extends LaneFixture {

    private static final Change ANN = Change.by("ann").reason("the warehouse was restored");

    private List<Claim> deliver(Postrider postrider) {
        List<Claim> claims = postrider.store().claim(request().limit(1000));
        postrider
                .store()
                .settle(claims.stream()
                        .map(claim -> new Outcome.Delivered(claim))
                        .toList());
        return claims;
    }

    private Filter deliveredBefore(Instant end) {
        return Filter.delivered().topic(topic).delivered(null, end);
    }

    /** Delivers this number of messages, an hour ago. Returns a filter that selects them. */
    private Filter deliveredAnHourAgo(Postrider postrider, int count) throws SQLException {
        enqueue(postrider, count);
        assertThat(deliver(postrider)).hasSize(count);
        advance(Duration.ofHours(1));
        return deliveredBefore(Instant.now().minus(Duration.ofMinutes(30)));
    }

    private Message deliveredMessage(Postrider postrider, Message.Builder builder) throws SQLException {
        Message message = builder.build();
        enqueue(postrider, message);
        assertThat(deliver(postrider)).hasSize(1);
        return message;
    }

    private List<AuditEntry> audit(Postrider postrider) {
        return postrider.admin().audit(Long.MAX_VALUE, 100).stream()
                .filter(entry -> topic.equals(entry.topic()))
                .toList();
    }

    @Test
    void messageIsRedeliveredWithItsIdOncePerDelivery() throws SQLException {
        Postrider postrider = postrider();
        Admin admin = postrider.admin();
        Message sent = deliveredMessage(
                postrider,
                message()
                        .tenant("acme")
                        .idempotencyKey("order-1")
                        .header("x", "y")
                        .correlationId("conversation")
                        .occurredAt(Instant.parse("2020-01-01T00:00:00Z")));

        assertThat(admin.apply(Action.REDELIVER, sent.id(), ANN)).isEqualTo(Repair.DONE);
        assertThat(admin.apply(Action.REDELIVER, sent.id(), ANN))
                .as("once for each delivery")
                .isEqualTo(Repair.WRONG_STATE);

        List<Claim> again = deliver(postrider);
        assertThat(again).singleElement().satisfies(claim -> {
            assertThat(claim.message()).isEqualTo(sent);
            assertThat(claim.attempt()).isEqualTo(1);
        });
        assertThat(archived()).isEqualTo(2);
        assertThat(admin.apply(Action.REDELIVER, sent.id(), ANN))
                .as("its last delivery")
                .isEqualTo(Repair.DONE);
        assertThat(audit(postrider)).hasSize(2).allSatisfy(entry -> {
            assertThat(entry.action()).isEqualTo("REDELIVER");
            assertThat(entry.message()).isEqualTo(sent.id());
            assertThat(entry.operator()).isEqualTo("ann");
            assertThat(entry.reason()).isEqualTo("the warehouse was restored");
        });
    }

    @Test
    void messageIsRedeliveredAsANewOneThatTheOldOneCaused() throws SQLException {
        Postrider postrider = postrider();
        Instant occurred = Instant.now().minus(Duration.ofDays(3)).truncatedTo(ChronoUnit.MILLIS);
        Message sent = deliveredMessage(
                postrider,
                message()
                        .idempotencyKey("order-1")
                        .header("x", "y")
                        .correlationId("conversation")
                        .occurredAt(occurred));

        assertThat(postrider.admin().apply(Action.REDELIVER_AS_NEW, sent.id(), ANN))
                .isEqualTo(Repair.DONE);

        Message again = deliver(postrider).get(0).message();
        assertThat(again.id()).isNotEqualTo(sent.id());
        assertThat(again.causationId()).isEqualTo(sent.id().toString());
        assertThat(again.idempotencyKey()).as("receivers would drop it").isNull();
        assertThat(again.occurredAt()).isEqualTo(occurred);
        assertThat(again.correlationId()).isEqualTo("conversation");
        assertThat(again.headers()).isEqualTo(sent.headers());
        assertThat(again.payload()).isEqualTo(sent.payload());
        assertThat(postrider.admin().apply(Action.REDELIVER_AS_NEW, sent.id(), ANN))
                .isEqualTo(Repair.WRONG_STATE);
        assertThat(postrider.admin().apply(Action.REDELIVER_AS_NEW, again.id(), ANN))
                .isEqualTo(Repair.DONE);
    }

    @Test
    void timeOfTheEventIsThatOfTheOldIdUnlessItWasGiven() throws SQLException {
        Postrider postrider = postrider();
        Message sent = deliveredMessage(postrider, message());

        postrider.admin().apply(Action.REDELIVER_AS_NEW, sent.id(), ANN);

        assertThat(deliver(postrider).get(0).message().occurredAt()).isEqualTo(sent.occurredAt());
    }

    @Test
    void idempotencyKeyStaysUsed() throws SQLException {
        Postrider postrider = postrider();
        Message sent = deliveredMessage(postrider, message().idempotencyKey("order-1"));
        postrider.admin().apply(Action.REDELIVER, sent.id(), ANN);

        Enqueued same = enqueue(postrider, message().idempotencyKey("order-1").build());

        assertThat(same).isInstanceOf(Enqueued.Duplicate.class);
        assertThat(live()).isEqualTo(1);
    }

    @Test
    void archiveWithoutPayloadIsRefused() throws SQLException {
        Postrider postrider = postrider(
                builder -> builder.topic(topic, declared -> declared.archive(TableOptions.Archive.WITHOUT_PAYLOAD)));
        Message sent = deliveredMessage(postrider, message());
        advance(Duration.ofHours(1));

        assertThat(postrider.admin().apply(Action.REDELIVER, sent.id(), ANN)).isEqualTo(Repair.NO_PAYLOAD);
        Filter all = deliveredBefore(Instant.now().minus(Duration.ofMinutes(30)));
        assertThat(postrider.admin().apply(Action.REDELIVER_AS_NEW, all, ANN))
                .isEqualTo(new ChangeResult(0, 1, null, List.of()));
        assertThat(live()).isZero();
        assertThat(audit(postrider)).isEmpty();
    }

    @Test
    void emptyPayloadIsAPayload() throws SQLException {
        Postrider postrider = postrider();
        Message sent = deliveredMessage(postrider, message().payload(Payload.of(new byte[0], "text/plain")));

        assertThat(postrider.admin().apply(Action.REDELIVER, sent.id(), ANN)).isEqualTo(Repair.DONE);
        assertThat(deliver(postrider).get(0).message().payload()).isEqualTo(sent.payload());
    }

    @Test
    void compressedPayloadStaysAsItIs() throws SQLException {
        Postrider postrider =
                postrider(builder -> builder.topic(topic, declared -> declared.compressPayloadsAbove(100)));
        String json = "{\"text\":\"" + "long ".repeat(1000) + "\"}";
        Message sent = deliveredMessage(postrider, message().json(json));
        String stored = query("SELECT OCTET_LENGTH(payload) FROM postrider_archive WHERE topic = '" + topic + "'");

        postrider.admin().apply(Action.REDELIVER_AS_NEW, sent.id(), ANN);

        assertThat(column("OCTET_LENGTH(payload)")).isEqualTo(stored);
        assertThat(deliver(postrider).get(0).message().payload().asText()).isEqualTo(json);
    }

    @Test
    void messageThatIsNotDeliveredOrNotThereIsNotRedelivered() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        MessageId waiting = claim(postrider).get(0).message().id();

        assertThat(postrider.admin().apply(Action.REDELIVER, waiting, ANN)).isEqualTo(Repair.NOT_FOUND);
        assertThat(postrider.admin().apply(Action.REDELIVER, MessageId.next(), ANN))
                .isEqualTo(Repair.NOT_FOUND);
        Message sent = deliveredMessage(postrider, message());
        assertThat(postrider.admin().apply(Action.REDELIVER, sent.id(), ANN.expecting(State.DEAD)))
                .isEqualTo(Repair.WRONG_STATE);
        assertThat(live()).isEqualTo(1);
    }

    @Test
    void rangeIsRedeliveredInItsOrderAndOnce() throws SQLException {
        Postrider postrider = postrider();
        Filter range = deliveredAnHourAgo(postrider, 250);
        List<String> ids =
                list("SELECT id FROM postrider_archive WHERE topic = '" + topic + "' ORDER BY delivered_at, seq");
        enqueue(postrider, 2);
        deliver(postrider);

        ChangeResult foreseen = postrider.admin().apply(Action.REDELIVER, range, Change.dryRun());
        assertThat(foreseen.changed()).isEqualTo(250);
        assertThat(foreseen.sample())
                .hasSize(10)
                .extracting(MessageSummary::state)
                .containsOnly(State.DELIVERED);
        assertThat(live()).isZero();
        ChangeResult first = postrider.admin().apply(Action.REDELIVER, range, ANN.limit(120));
        assertThat(first.changed()).isEqualTo(120);
        assertThat(first.next()).isNotNull();
        ChangeResult rest = postrider.admin().apply(Action.REDELIVER, range, ANN.after(first.next()));

        assertThat(rest).isEqualTo(new ChangeResult(130, 0, null, List.of()));
        assertThat(list("SELECT id FROM postrider_message WHERE topic = '" + topic + "' ORDER BY seq"))
                .isEqualTo(ids);
        assertThat(postrider.admin().apply(Action.REDELIVER_AS_NEW, range, ANN))
                .as("redelivered before")
                .isEqualTo(new ChangeResult(0, 250, null, List.of()));
        assertThat(postrider.admin().apply(Action.REDELIVER, range, Change.dryRun()))
                .satisfies(result -> assertThat(result.skipped()).isEqualTo(250));
        assertThat(audit(postrider).stream().mapToInt(AuditEntry::changed).sum())
                .isEqualTo(250);
    }

    @Test
    void filterNeedsAnEndOfTheDeliveryTimesThatHasPassed() {
        Postrider postrider = postrider();
        for (Filter endless : List.of(
                Filter.delivered().topic(topic),
                Filter.delivered().topic(topic).delivered(Instant.EPOCH, null),
                deliveredBefore(Instant.now().plus(Duration.ofDays(1))))) {
            assertThatThrownBy(() -> postrider.admin().apply(Action.REDELIVER, endless, ANN))
                    .isInstanceOf(InvalidConfigurationException.class)
                    .hasMessageContaining("must end at a delivery time that has passed");
        }
        assertThatThrownBy(() -> postrider
                        .admin()
                        .apply(
                                Action.REDELIVER,
                                deliveredBefore(Instant.EPOCH.plusSeconds(1)).states(List.of(State.DEAD)),
                                ANN))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("in one of the states");
        assertThatThrownBy(() -> postrider
                        .admin()
                        .apply(Action.REDELIVER, deliveredBefore(Instant.EPOCH.plusSeconds(1)), ANN.after("m1")))
                .isInstanceOf(InvalidConfigurationException.class);
    }

    @Test
    void messagesOfAnOrderedTopicComeAfterTheOthersOfTheirKey() throws SQLException {
        Postrider postrider = ordered();
        Holder node = holder();
        write(postrider, "a", 0, 1);
        write(postrider, "b", 2);
        node.deliver(node.read());
        advance(Duration.ofSeconds(20));
        Filter range = deliveredBefore(Instant.now().minus(Duration.ofSeconds(10)));
        write(postrider, "a", 3);

        assertThat(postrider.admin().apply(Action.REDELIVER_AS_NEW, range, ANN).changed())
                .isEqualTo(3);

        assertThat(numbers(node.read())).containsExactly(3, 0, 1, 2);
        assertThat(states()).containsOnly("PENDING");
        assertThat(list("SELECT COUNT(DISTINCT lane) FROM postrider_message WHERE topic = '" + topic + "'"))
                .containsExactly("1");
    }

    @Test
    void messageOfARemovedTopicIsNotRedelivered() throws SQLException {
        Postrider postrider = postrider();
        Message sent = deliveredMessage(postrider, message());
        assertThat(postrider.admin().remove(topic, "ann")).isEqualTo(Repair.DONE);

        assertThat(postrider.admin().apply(Action.REDELIVER, sent.id(), ANN)).isEqualTo(Repair.NOT_FOUND);
        assertThat(live()).isZero();
    }

    @Test
    void lockedRowOfTheArchiveIsSkipped() throws SQLException {
        Postrider postrider = postrider();
        needsConcurrency();
        Message sent = deliveredMessage(postrider, message());
        try (Connection other = transaction()) {
            execute(other, "UPDATE postrider_archive SET attempts = attempts WHERE topic = '" + topic + "'");

            assertThat(postrider.admin().apply(Action.REDELIVER, sent.id(), ANN))
                    .isEqualTo(Repair.BUSY);
            other.rollback();
        }
        assertThat(live()).isZero();
    }

    @Test
    void twoOperatorsRedeliverEachMessageOnce() throws Exception {
        Postrider postrider = postrider();
        Filter range = deliveredAnHourAgo(postrider, 400);
        CyclicBarrier together = new CyclicBarrier(2);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        int changed = 0;
        try {
            List<Future<ChangeResult>> results = new ArrayList<>();
            for (Action action : List.of(Action.REDELIVER, Action.REDELIVER_AS_NEW)) {
                results.add(threads.submit(() -> {
                    together.await();
                    return postrider.admin().apply(action, range, ANN);
                }));
            }
            for (Future<ChangeResult> result : results) {
                changed += result.get().changed();
            }
        } finally {
            threads.shutdownNow();
        }

        assertThat(changed).isEqualTo(400);
        assertThat(live()).isEqualTo(400);
        assertThat(query("SELECT COUNT(*) FROM postrider_archive WHERE redelivered_at IS NOT NULL AND topic = '" + topic
                        + "'"))
                .isEqualTo("400");
    }
}
