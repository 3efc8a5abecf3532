package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.dispatch.DurableInbox;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.event.Event;
import dev.postrider.inbox.Accepted;
import dev.postrider.inbox.MessageHandler;
import dev.postrider.message.DeterministicKey;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.transport.PermanentFailureException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of the durable inbox: a received message is stored once for each handler, and takes effect once per handler. */
public abstract class DurableInboxContract extends LaneFixture {

    private static final RetryPolicy AT_ONCE = RetryPolicy.constant(Duration.ZERO);
    private static final MessageHandler NOTHING = (message, work) -> {};

    /** The consumer of this test. */
    private final String consumer = topic;

    private final List<Message> seen = new CopyOnWriteArrayList<>();

    @BeforeEach
    void tables() throws SQLException {
        execute("CREATE TABLE IF NOT EXISTS handled_effect (topic VARCHAR(100) NOT NULL, n INTEGER NOT NULL)");
    }

    // Receiving

    @Test
    void receivedMessageTakesEffectOncePerHandlerHoweverOftenItComes() throws Exception {
        Postrider node = node(inbox -> inbox.handler("invoice", "order.placed", effect("invoice"))
                .handler("credit", "order.placed", effect("credit"))
                .handler("mail", "order.cancelled", effect("mail")));
        node.start();
        Message order = order("o-1", 7);

        assertThat(node.inbox(consumer).receive(List.of(order)).fresh()).containsExactly(order);
        Accepted again = node.inbox(consumer).receive(List.of(order, order));

        assertThat(again.fresh()).isEmpty();
        assertThat(again.duplicates()).hasSize(2);
        eventually(
                "both are done",
                () -> waiting() == 0
                        && effects("invoice").size() == 1
                        && effects("credit").size() == 1);
        assertThat(effects("invoice")).containsExactly("7");
        assertThat(effects("mail")).isEmpty();
    }

    @Test
    void handlerSeesTheMessageAsItCameIn() throws Exception {
        Postrider node = node(inbox -> inbox.ordered().handler("invoice", "*", (message, work) -> seen.add(message)));
        Message keyless = Message.received("shop/orders", "o-1")
                .type("order.placed")
                .tenant("acme")
                .idempotencyKey("acme/o-1")
                .json("{\"n\":1}")
                .header("region", "north")
                .correlationId("conversation")
                .causationId("click")
                .occurredAt(Instant.parse("2026-02-03T04:05:06.123456Z"))
                .source("/shop")
                .subject("o-1")
                .expiresAt(Instant.parse("2100-01-01T00:00:00.5Z"))
                .build();
        Message keyed = Message.received("shop/orders", "o-2")
                .type("order.placed")
                .key("customer-9")
                .text("body")
                .build();
        node.start();

        node.inbox(consumer).receive(List.of(keyless, keyed));

        eventually("both are seen", () -> seen.size() == 2);
        assertThat(seen).containsExactlyInAnyOrder(keyless, keyed);
    }

    @Test
    void whatAHandlerSendsNamesTheMessageThatCameInAsItsCause() throws Exception {
        Postrider node = node(
                builder -> builder.topic(answers()),
                inbox -> inbox.handler(
                        "invoice",
                        "*",
                        (message, work) -> work.stage(
                                Message.to(answers()).type("a").json("{}").build())));
        Message order = order("o-1", 1);
        node.start();

        node.inbox(consumer).receive(List.of(order));

        eventually("it is sent", () -> !causes().isEmpty());
        assertThat(causes()).containsExactly(order.id().toString());
        assertThat(attributes("correlationId", answers()))
                .containsExactly(order.id().toString());
    }

    @Test
    void nothingOfABatchIsStoredWhenOneOfItIsBad() {
        Postrider node = node(inbox -> inbox.handler("invoice", "*", NOTHING));
        Message tooLarge = Message.received("orders", "o-2")
                .type("order.placed")
                .bytes(new byte[2_000_000], "application/octet-stream")
                .build();

        assertThatThrownBy(() -> node.inbox(consumer).receive(List.of(order("o-1", 1), tooLarge)))
                .isInstanceOf(InvalidMessageException.class);

        assertThat(node.inbox(consumer).receive(List.of(order("o-1", 1))).fresh())
                .hasSize(1);
    }

    @Test
    void receivingForAnUndeclaredConsumerIsRefused() {
        Postrider node = node(inbox -> inbox.handler("invoice", "*", NOTHING));

        assertThatThrownBy(() -> node.inbox(consumer + "-typo").receive(List.of(order("o-1", 1))))
                .isInstanceOf(UnknownTopicException.class);
        assertThatThrownBy(() -> node.inbox(consumer + ".invoice").receive(List.of(order("o-1", 1))))
                .isInstanceOf(InvalidConfigurationException.class);
    }

    @Test
    void onlyTheInboxWritesToItsTopics() throws Exception {
        Postrider node = node(inbox -> inbox.handler("invoice", "*", NOTHING));
        Message forged = Message.to("inbox/" + consumer + ".invoice")
                .type("x")
                .json("{}")
                .build();

        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> node.outbox(connection).enqueue(forged))
                    .isInstanceOf(InvalidMessageException.class)
                    .hasMessageContaining("belongs to the inbox");
        }
        assertThatThrownBy(() -> node.inTransaction(work -> work.stage(forged)))
                .isInstanceOf(InvalidMessageException.class);
        assertThatThrownBy(() -> Postrider.on(dataSource()).topic("inbox/x"))
                .isInstanceOf(InvalidConfigurationException.class);
    }

    @Test
    void severalReceiversOfTheSameBatchStoreItOnce() throws Exception {
        needsConcurrency();
        Postrider node = node(inbox -> inbox.handler("invoice", "*", NOTHING).handler("credit", "*", NOTHING));
        List<Message> batch = List.of(order("o-1", 1), order("o-2", 2), order("o-3", 3));

        List<CompletableFuture<Accepted>> receivers = List.of(1, 2, 3, 4).stream()
                .map(each ->
                        CompletableFuture.supplyAsync(() -> node.inbox(consumer).receive(batch)))
                .toList();
        int fresh = 0;
        for (CompletableFuture<Accepted> receiver : receivers) {
            fresh += receiver.get(SOON.toSeconds(), TimeUnit.SECONDS).fresh().size();
        }

        assertThat(fresh).isEqualTo(3);
        assertThat(waiting()).isEqualTo(6);
    }

    @Test
    void handlersOfOtherNodesGetTheirMessagesToo() throws Exception {
        Postrider other = node(inbox -> inbox.handler("elsewhere", "*", effect("elsewhere")));
        Postrider node = node(inbox -> inbox.handler("here", "*", effect("here")));
        node.start();

        node.inbox(consumer).receive(List.of(order("o-1", 1)));

        eventually("the one here is done", () -> effects("here").size() == 1 && waiting() == 1);
        assertThat(effects("elsewhere")).isEmpty();
        other.start();
        eventually("and then the other", () -> effects("elsewhere").size() == 1 && waiting() == 0);
    }

    // Outcomes of each handler

    @Test
    void failingHandlerDoesNotRunTheOthersAgain() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        AtomicInteger good = new AtomicInteger();
        Postrider node = node(inbox -> inbox.handler("good", "*", (message, work) -> {
                    good.incrementAndGet();
                    effect("good").handle(message, work);
                })
                .handler(
                        "bad",
                        Set.of("*"),
                        (message, work) -> {
                            effect("bad").handle(message, work);
                            if (calls.incrementAndGet() < 4) {
                                throw new IllegalStateException("not yet");
                            }
                        },
                        options -> options.retry(AT_ONCE)));
        node.start();

        node.inbox(consumer).receive(List.of(order("o-1", 1)));

        eventually("both are done", () -> waiting() == 0 && effects("bad").size() == 1);
        assertThat(calls).hasValue(4);
        assertThat(good).hasValue(1);
        assertThat(effects("good")).hasSize(1);
    }

    @Test
    void handlerThatNeverWorksLeavesADeadLetterThatCanBeReplayed() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Postrider node = node(inbox -> inbox.handler(
                "bad",
                Set.of("*"),
                (message, work) -> {
                    if (calls.incrementAndGet() <= 2) {
                        throw new IllegalStateException("not today");
                    }
                    effect("bad").handle(message, work);
                },
                options -> options.retry(AT_ONCE).maxAttempts(2)));
        node.start();
        node.inbox(consumer).receive(List.of(order("o-1", 1)));
        eventually("it is dead", () -> dead("bad").size() == 1);
        StoredMessage dead = dead("bad").get(0);
        assertThat(dead.reason()).isEqualTo("ATTEMPTS_EXHAUSTED");

        assertThat(node.admin().replay(dead.message().id(), "ann")).isEqualTo(Repair.DONE);

        eventually("it is done", () -> effects("bad").size() == 1);
    }

    @Test
    void deadLetterNamesTheIdThatItsSenderGaveAndIsFoundByIt() throws Exception {
        Postrider node = node(inbox -> inbox.handler(
                "bad",
                Set.of("order.placed"),
                (message, work) -> {
                    throw new PermanentFailureException("never");
                },
                options -> {}));
        Message order = order("o-1", 1);
        Message other =
                Message.received("orders", "o-2").type("other").text("{}").build();
        node.inbox(consumer).receive(List.of(order, other));
        node.deliverDue();

        assertThat(dead("bad")).singleElement().satisfies(dead -> {
            assertThat(dead.receivedId()).isEqualTo(order.id());
            assertThat(dead.message().id()).isNotEqualTo(order.id());
        });
        assertThat(node.admin().deadLetters("inbox/" + consumer, 10))
                .extracting(StoredMessage::receivedId)
                .containsExactly(other.id());
        assertThat(node.admin().find(idOfRow("inbox/" + consumer + ".bad", order.id())))
                .hasValueSatisfying(found -> assertThat(found.receivedId()).isEqualTo(order.id()));
        assertThat(node.admin().find(idOfRow("inbox/" + consumer, other.id()))).isPresent();
    }

    /** The id of the row, computed as in the documentation of the inbox. */
    private static MessageId idOfRow(String queue, MessageId received) {
        return new MessageId(DeterministicKey.of(null, "inbox", queue, received.toString(), 1));
    }

    @Test
    void messageOfATopicHasNoOtherIdThanItsOwn() throws Exception {
        Postrider node = node(builder -> builder.topic(answers()), inbox -> inbox.handler("invoice", "*", NOTHING));
        Message sent = Message.to(answers()).type("t").json("{}").build();

        node.inTransaction(work -> work.stage(sent));

        assertThat(node.admin().find(sent.id()).orElseThrow().receivedId()).isNull();
    }

    @Test
    void twoHandlersThatFinishTogetherAreBothDone() throws Exception {
        needsConcurrency();
        CountDownLatch both = new CountDownLatch(2);
        MessageHandler together = (message, work) -> {
            effect("together").handle(message, work);
            both.countDown();
            assertThat(both.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        };
        Postrider node = node(inbox -> inbox.handler("one", "*", together).handler("two", "*", together));
        node.start();

        node.inbox(consumer).receive(List.of(order("o-1", 1)));

        eventually("both are done", () -> waiting() == 0);
        assertThat(effects("together")).hasSize(2);
    }

    @Test
    void messagesOfAKeyAreHandledInTheOrderTheyCameIn() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Postrider node = node(inbox -> inbox.lanes(4)
                .handler(
                        "invoice",
                        Set.of("*"),
                        (message, work) -> {
                            if (calls.incrementAndGet() % 3 == 0) {
                                throw new IllegalStateException("every third");
                            }
                            seen.add(message);
                        },
                        options -> options.retry(AT_ONCE).maxAttempts(1000)));
        node.start();

        for (int n = 1; n <= 12; n++) {
            Message message = Message.received("orders", "o-" + n)
                    .type("order.placed")
                    .key("k" + n % 2)
                    .json("{\"n\":" + n + "}")
                    .build();
            node.inbox(consumer).receive(List.of(message));
        }

        eventually("all are done", () -> waiting() == 0);
        for (int key = 0; key < 2; key++) {
            String name = "k" + key;
            assertThat(seen.stream()
                            .filter(message -> name.equals(message.key()))
                            .map(LaneFixture::number))
                    .hasSize(6)
                    .isSorted();
        }
    }

    // Messages without a handler, and collisions

    @Test
    void messageWithoutAHandlerIsKeptAndGoesToTheOneThatComesLater() throws Exception {
        Postrider early = node(inbox -> inbox.handler("mail", "order.cancelled", NOTHING));
        Message order = order("o-1", 5);

        assertThat(early.inbox(consumer).receive(List.of(order)).fresh()).hasSize(1);

        List<StoredMessage> kept = early.admin().deadLetters("inbox/" + consumer, 10);
        assertThat(kept).hasSize(1);
        assertThat(kept.get(0).reason()).isEqualTo("NO_HANDLER");
        Postrider later = node(inbox -> inbox.handler("invoice", "order.placed", (message, work) -> {
            seen.add(message);
            effect("invoice").handle(message, work);
        }));
        later.start();

        later.admin().replay(kept.get(0).message().id(), "ann");

        eventually("it is done", () -> effects("invoice").size() == 1 && waiting() == 0);
        assertThat(seen).containsExactly(order);
    }

    @Test
    void listenersHearOfAMessageThatNoHandlerTakes() throws Exception {
        Postrider node = node(inbox -> inbox.handler("mail", "order.cancelled", NOTHING));
        Message order = order("o-1", 5);

        node.inbox(consumer).receive(List.of(order));
        node.inbox(consumer).receive(List.of(order));

        assertThat(events)
                .containsExactly(new Event.Unhandled(consumer, order), new Event.DuplicateReceived(consumer, order));
    }

    @Test
    void replayWithoutAHandlerStaysADeadLetterThatSaysWhy() throws Exception {
        Postrider node = node(inbox -> inbox.handler("mail", "order.cancelled", NOTHING));
        node.inbox(consumer).receive(List.of(order("o-1", 5)));
        MessageId kept = node.admin()
                .deadLetters("inbox/" + consumer, 10)
                .get(0)
                .message()
                .id();

        node.admin().replay(kept, "ann");
        node.deliverDue();

        assertThat(node.admin().deadLetters("inbox/" + consumer, 10))
                .singleElement()
                .satisfies(dead -> {
                    assertThat(dead.message().id()).isEqualTo(kept);
                    assertThat(dead.reason()).isEqualTo("NO_HANDLER");
                    assertThat(dead.attempts()).isEqualTo(1);
                    assertThat(dead.lastError())
                            .isEqualTo("Consumer '" + consumer + "' has no handler for messages of type 'order.placed':"
                                    + " declare one, start it and replay the message");
                });
    }

    @Test
    void receivedMessageThatHasExpiredIsNotHandled() {
        Postrider node = node(inbox -> inbox.handler("invoice", "*", (message, work) -> seen.add(message)));
        Message late = Message.received("shop/orders", "o-1")
                .type("order.placed")
                .json("{\"n\":1}")
                .expiresAt(Instant.now().minusSeconds(60))
                .build();
        node.inbox(consumer).receive(List.of(late, order("o-2", 2)));

        node.deliverDue();

        assertThat(seen).extracting(Message::id).containsExactly(order("o-2", 2).id());
        assertThat(dead("invoice")).extracting(StoredMessage::reason).containsExactly("EXPIRED");
    }

    @Test
    void anotherMessageWithAKnownIdIsKeptForAnOperator() throws Exception {
        Postrider node = node(inbox -> inbox.handler("invoice", "*", (message, work) -> {
            seen.add(message);
            effect("invoice").handle(message, work);
        }));
        node.start();
        node.inbox(consumer).receive(List.of(order("o-1", 1)));

        Accepted accepted = node.inbox(consumer).receive(List.of(order("o-1", 2)));

        assertThat(accepted.collisions()).hasSize(1);
        eventually("the first is done", () -> effects("invoice").contains("1"));
        StoredMessage kept = node.admin().deadLetters("inbox/" + consumer, 10).get(0);
        assertThat(kept.reason()).isEqualTo("COLLISION");

        node.admin().replay(kept.message().id(), "ann");

        eventually("the replay handles the message", () -> effects("invoice").contains("2"));
        assertThat(seen).extracting(Message::id).containsOnly(order("o-1", 1).id());
    }

    @Test
    void collidingMessageIsKeptOnceHoweverOftenItComes() {
        Postrider node = node(inbox -> inbox.handler("invoice", "*", NOTHING));
        node.inbox(consumer).receive(List.of(order("o-1", 1)));

        for (int redelivery = 0; redelivery < 3; redelivery++) {
            Accepted accepted =
                    node.inbox(consumer).receive(List.of(order("o-1", 2), order("o-1", 2), order("o-1", 3)));
            assertThat(accepted.collisions()).hasSize(3);
        }

        assertThat(node.admin().deadLetters("inbox/" + consumer, 10))
                .hasSize(2)
                .extracting(StoredMessage::reason)
                .containsOnly("COLLISION");
        assertThat(events).filteredOn(Event.Collided.class::isInstance).hasSize(9);
    }

    @Test
    void retiredHandlerGetsNothingMoreAndWhatWaitedIsDead() throws Exception {
        Postrider node = node(inbox -> inbox.handler("old", "*", NOTHING).handler("new", "*", NOTHING));
        node.inbox(consumer).receive(List.of(order("o-1", 1), order("o-2", 2)));

        int buried = node.admin().retire(consumer, "old", "ann");

        assertThat(buried).isEqualTo(2);
        assertThat(dead("old")).extracting(StoredMessage::reason).containsOnly("HANDLER_RETIRED");
        node.inbox(consumer).receive(List.of(order("o-3", 3)));
        assertThat(dead("old")).hasSize(2);
        assertThat(waiting()).as("those of the other handler").isEqualTo(3);
        assertThat(query("SELECT operator FROM postrider_audit WHERE action = 'RETIRE' AND topic = '" + consumer
                        + ".old'"))
                .isEqualTo("ann");
        assertThat(node.admin().retire(consumer, "old", "ann")).isZero();
        assertThatThrownBy(() -> node.admin().retire(consumer, "never", "ann"))
                .isInstanceOf(UnknownTopicException.class);
    }

    @Test
    void retiredHandlerOfAnOrderedInboxLeavesNoKeyBehind() throws Exception {
        Postrider node = node(inbox -> inbox.lanes(2)
                .handler(
                        "old",
                        Set.of("*"),
                        (message, work) -> {
                            throw new IllegalStateException("never");
                        },
                        options -> options.retry(RetryPolicy.constant(Duration.ofHours(1)))));
        node.start();
        for (int n = 1; n <= 4; n++) {
            node.inbox(consumer)
                    .receive(List.of(Message.received("orders", "o-" + n)
                            .type("t")
                            .key("k")
                            .json("{\"n\":" + n + "}")
                            .build()));
        }
        eventually(
                "the key is blocked",
                () -> !node.admin()
                        .blockedKeys("inbox/" + consumer + ".old", 10)
                        .isEmpty());
        eventually(
                "and the others wait",
                () -> list("SELECT state FROM postrider_message WHERE topic = '" + consumer
                                        + ".old' AND state = 'BLOCKED'")
                                .size()
                        == 3);

        assertThat(node.admin().retire(consumer, "old", "ann")).isEqualTo(4);

        assertThat(node.admin().blockedKeys("inbox/" + consumer + ".old", 10)).isEmpty();
        assertThat(dead("old")).hasSize(4);
    }

    @Test
    void retirementWaitsForARunningReceipt() throws Exception {
        needsConcurrency();
        Postrider node = node(inbox -> inbox.handler("old", "*", NOTHING));
        try (Connection receiving = transaction()) {
            execute(
                    receiving,
                    "SELECT handler FROM postrider_inbox_handler WHERE consumer = '" + consumer + "' "
                            + (product().equals("PostgreSQL") ? "FOR KEY SHARE" : "LOCK IN SHARE MODE"));
            CompletableFuture<Integer> retired =
                    CompletableFuture.supplyAsync(() -> node.admin().retire(consumer, "old", "ann"));
            awaitLockWait(retired);
            assertThat(retired).isNotDone();
            receiving.commit();
            assertThat(retired.get(SOON.toSeconds(), TimeUnit.SECONDS)).isZero();
        }
    }

    // From a topic of the same database

    @Test
    void topicOfTheSameDatabaseGoesIntoAnInboxInOneCommit() throws Exception {
        Postrider node = node(
                builder -> builder.topic(answers(), declared -> declared.toInbox(consumer)),
                inbox -> inbox.handler("invoice", "order.placed", (message, work) -> {
                    seen.add(message);
                    effect("invoice").handle(message, work);
                }));
        node.start();
        Message sent = Message.to(answers())
                .type("order.placed")
                .key("k")
                .json("{\"n\":9}")
                .build();

        node.inTransaction(work -> work.stage(sent));

        eventually("it is done", () -> effects("invoice").size() == 1 && waiting() == 0);
        assertThat(seen).containsExactly(sent);
        assertThat(query("SELECT COUNT(*) FROM postrider_message WHERE topic = '" + answers() + "'"))
                .isEqualTo("0");
        assertThat(query("SELECT COUNT(*) FROM postrider_inbox_mark WHERE consumer = '" + consumer + "'"))
                .isEqualTo("1");
    }

    @Test
    void listenersHearWhatBecameOfAMessageThatATopicGaveToAnInbox() throws Exception {
        Postrider node = node(
                builder -> builder.topic(answers(), declared -> declared.toInbox(consumer)),
                inbox -> inbox.handler("invoice", "*", NOTHING));
        Message first = Message.to(answers()).type("t").json("{\"n\":1}").build();
        Message other =
                Message.to(answers()).id(first.id()).type("t").json("{\"n\":2}").build();
        for (Message message : List.of(first, first, other)) {
            node.inTransaction(work -> work.stage(message));
            node.deliverDue();
        }

        assertThat(events)
                .filteredOn(event -> event instanceof Event.DuplicateReceived || event instanceof Event.Collided)
                .containsExactly(new Event.DuplicateReceived(consumer, first), new Event.Collided(consumer, other));
    }

    @Test
    void dueMessagesGoThroughTopicAndInboxInTheCallersThread() throws Exception {
        Postrider node = node(
                builder -> builder.topic(
                        answers(), declared -> declared.toInbox(consumer).handlersPerTransaction(5)),
                inbox -> inbox.handler("invoice", "*", effect("invoice")));
        node.inTransaction(work -> {
            for (int n = 0; n < 5; n++) {
                work.stage(Message.to(answers())
                        .type("t")
                        .json("{\"n\":" + n + "}")
                        .build());
            }
        });

        node.deliverDue();

        assertThat(effects("invoice")).containsExactlyInAnyOrder("0", "1", "2", "3", "4");
    }

    @Test
    void storedMessagesAreHandledWithoutAClaimOnTheNodeThatReceivedThem() throws Exception {
        Postrider node = node(inbox -> inbox.handler("invoice", "*", effect("invoice")));
        node.start();

        node.inbox(consumer).receive(List.of(order("o-1", 1)));

        eventually("it is done", () -> effects("invoice").size() == 1 && waiting() == 0);
        assertThat(events).anyMatch(Event.HandedOver.class::isInstance).noneMatch(Event.Fetched.class::isInstance);
    }

    private Postrider node(Consumer<DurableInbox.Builder> inbox) {
        return node(builder -> {}, inbox);
    }

    private Postrider node(Consumer<PostriderBuilder> others, Consumer<DurableInbox.Builder> inbox) {
        return postrider(builder -> {
            others.accept(builder);
            return builder.inbox(consumer, inbox)
                    .dispatch(options -> options.pollInterval(Duration.ofMillis(200)))
                    .listener(events::add);
        });
    }

    private static Message order(String id, int number) {
        return Message.received("orders", id)
                .type("order.placed")
                .occurredAt(Instant.parse("2026-02-03T04:05:06Z"))
                .json("{\"n\":" + number + "}")
                .build();
    }

    private String answers() {
        return topic + "-answers";
    }

    private MessageHandler effect(String name) {
        return (message, work) -> insert(name, message, work);
    }

    private void insert(String name, Message message, UnitOfWork work) throws SQLException {
        try (PreparedStatement insert =
                work.connection().prepareStatement("INSERT INTO handled_effect (topic, n) VALUES (?, ?)")) {
            insert.setString(1, topic + "/" + name);
            insert.setInt(2, number(message));
            insert.executeUpdate();
        }
    }

    private List<String> effects(String name) throws SQLException {
        return list("SELECT n FROM handled_effect WHERE topic = '" + topic + "/" + name + "'");
    }

    private List<String> causes() throws SQLException {
        return attributes("causationId", answers());
    }

    /** The number of messages of this test's handlers that are neither handled nor dead. */
    private int waiting() throws SQLException {
        return list("SELECT m.seq FROM postrider_message m JOIN postrider_topic t ON t.id = m.topic_id"
                        + " WHERE t.namespace = 'inbox' AND t.topic LIKE '" + consumer + ".%' AND m.state <> 'DEAD'")
                .size();
    }

    private List<StoredMessage> dead(String handler) {
        return postrider(builder -> builder)
                .admin()
                .deadLetters(new TopicName("inbox", consumer + "." + handler), 0, 100);
    }
}
