package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.NodeStatus;
import dev.postrider.dispatch.DispatchOptions;
import dev.postrider.dispatch.Topic;
import dev.postrider.event.Event;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.PermanentFailureException;
import dev.postrider.transport.RetryLaterException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The contract of a started dispatcher: which messages reach the destination, how often, and their rows afterwards. */
public abstract class DispatchingContract extends DatabaseContract {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration BEFORE_A_POLL = Duration.ofSeconds(30);
    private static final RetryPolicy AT_ONCE = RetryPolicy.constant(Duration.ZERO);
    private static final RetryPolicy IN_AN_HOUR = RetryPolicy.constant(Duration.ofHours(1));

    private final RecordingTransport transport = new RecordingTransport();
    private final Queue<Event> events = new ConcurrentLinkedQueue<>();

    @Test
    void startedNodesDeliverEverythingOnce() throws Exception {
        Postrider first = node();
        Postrider second = node();
        enqueue(first, 2000);

        first.start();
        if (isConcurrent()) {
            second.start();
        }

        eventually("all are delivered", () -> live() == 0);
        assertThat(transport.messages()).hasSize(2000);
        assertThat(transport.messages()).extracting(Message::id).doesNotHaveDuplicates();
        assertThat(archived()).isEqualTo(2000);
    }

    @Test
    void nodeTellsItsVersionAndAllTopicsThatItDelivers() throws Exception {
        Postrider node = postrider(
                builder -> builder.topic(topic + "-plain", declared -> declared.deliver(new RecordingTransport()))
                        .topic(
                                topic + "-in-order",
                                declared -> declared.ordered().lanes(1).deliver(new RecordingTransport()))
                        .topic(topic + "-elsewhere")
                        .dispatch(options -> options.worker("all-" + topic)));
        Postrider unordered =
                postrider(builder -> builder.topic(topic, declared -> declared.deliver(new RecordingTransport()))
                        .dispatch(options -> options.worker("unordered-" + topic)));

        node.start();
        unordered.start();

        eventually("both are announced", () -> nodes(node).size() == 2);
        assertThat(Objects.requireNonNull(nodes(node).get("all-" + topic)).topics())
                .containsExactly(TopicName.of(topic + "-in-order"), TopicName.of(topic + "-plain"));
        assertThat(nodes(node).get("unordered-" + topic)).satisfies(seen -> {
            assertThat(seen.topics()).containsExactly(TopicName.of(topic));
            assertThat(seen.version()).isNotBlank();
            assertThat(seen.alive()).isTrue();
        });
        unordered.stop();
        assertThat(nodes(node)).containsOnlyKeys("all-" + topic);
    }

    private Map<String, NodeStatus> nodes(Postrider postrider) {
        return postrider.admin().nodes().stream()
                .filter(seen -> seen.worker().endsWith(topic))
                .collect(Collectors.toMap(NodeStatus::worker, seen -> seen));
    }

    @Test
    void deliveryCarriesIdKeyAndAttempt() throws Exception {
        transport.answering(
                delivery -> delivery.attempt() < 3 ? DeliveryResult.failed("busy") : DeliveryResult.delivered());
        Postrider node = node(topic -> topic.retry(AT_ONCE));
        MessageId id =
                enqueue(node, message().idempotencyKey("order-7").build()).id();

        node.start();

        eventually("it is delivered", () -> live() == 0);
        assertThat(transport.deliveries()).extracting(Delivery::attempt).containsExactly(1, 2, 3);
        assertThat(transport.deliveries()).allSatisfy(delivery -> {
            assertThat(delivery.message().id()).isEqualTo(id);
            assertThat(delivery.idempotencyKey()).isEqualTo("order-7");
        });
    }

    @Test
    void failedMessageWaitsForThePolicysDelayAndItsErrorIsGoneWithSuccess() throws Exception {
        transport.answering(
                delivery -> delivery.attempt() == 1 ? DeliveryResult.failed("503") : DeliveryResult.delivered());
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR));
        enqueue(node, 1);

        node.start();

        eventually("the failure is written", () -> column("last_error").equals("503"));
        assertThat(column("state")).isEqualTo("PENDING");
        assertThat(column("attempts")).isEqualTo("1");
        assertThat(untilDue(node)).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(60));

        advance(Duration.ofMinutes(61));

        eventually("it is delivered", () -> live() == 0);
        assertThat(transport.deliveries()).extracting(Delivery::attempt).containsExactly(1, 2);
        assertThat(archived()).isEqualTo(1);
    }

    @Test
    void retryComesWhenItIsDueAndNotBefore() throws Exception {
        List<Long> times = new CopyOnWriteArrayList<>();
        transport.answering(delivery -> {
            times.add(System.nanoTime());
            return delivery.attempt() == 1 ? DeliveryResult.failed("busy") : DeliveryResult.delivered();
        });
        Postrider node = node(topic -> topic.retry(RetryPolicy.constant(Duration.ofMillis(400))), this::slowPolling);
        enqueue(node, 1);

        node.start();

        eventually("it is delivered", () -> live() == 0);
        assertThat(Duration.ofNanos(times.get(1) - times.get(0)))
                .as("by the database's clock, and without waiting for a poll")
                .isBetween(Duration.ofMillis(390), BEFORE_A_POLL);
    }

    @Test
    void rejectedMessageIsDeadAtOnce() throws Exception {
        transport.answering(delivery -> DeliveryResult.rejected("410 gone"));
        Postrider node = node();
        enqueue(node, 1);

        node.start();

        eventually("it is dead", () -> column("state").equals("DEAD"));
        assertThat(column("reason")).isEqualTo("REJECTED");
        assertThat(column("last_error")).isEqualTo("410 gone");
        assertThat(column("attempts")).isEqualTo("1");
        assertThat(transport.deliveries()).hasSize(1);
    }

    @Test
    void permanentFailureOfAHandlerIsDeadAtOnce() throws Exception {
        Postrider node = handling(
                delivery -> {
                    if (delivery.message().type().equals("thrown")) {
                        throw new PermanentFailureException("never");
                    }
                    throw new UnsupportedOperationException("declared");
                },
                topic -> topic.permanentOn(failure -> failure instanceof UnsupportedOperationException));
        enqueue(node, message().type("thrown").build());
        enqueue(node, message().type("declared").build());

        assertThat(node.deliverDue()).isEqualTo(2);

        assertThat(node.admin().deadLetters(TopicName.of(topic), 0, 10)).allSatisfy(dead -> {
            assertThat(dead.reason()).isEqualTo("REJECTED");
            assertThat(dead.attempts()).isEqualTo(1);
        });
        assertThat(live()).isEqualTo(2);
    }

    @Test
    void exhaustedMessageIsDeadWithItsReason() throws Exception {
        transport.answering(delivery -> DeliveryResult.failed("attempt " + delivery.attempt()));
        Postrider node = node(topic -> topic.maxAttempts(3).retry(AT_ONCE));
        enqueue(node, 1);

        node.start();

        eventually("it is dead", () -> column("state").equals("DEAD"));
        assertThat(column("reason")).isEqualTo("ATTEMPTS_EXHAUSTED");
        assertThat(column("last_error")).isEqualTo("attempt 3");
        assertThat(transport.deliveries()).extracting(Delivery::attempt).containsExactly(1, 2, 3);
        eventually("it is reported", () -> events.stream().anyMatch(Event.Buried.class::isInstance));
    }

    @Test
    void exceptionOfAHandlerReachesListenersAsItWasThrown() throws Exception {
        IllegalStateException thrown = new IllegalStateException("not today");
        Postrider node = handling(
                delivery -> {
                    throw thrown;
                },
                topic -> topic.maxAttempts(2).retry(AT_ONCE));
        enqueue(node, 1);

        assertThat(node.deliverDue()).isEqualTo(2);

        assertThat(events)
                .filteredOn(Event.Failed.class::isInstance)
                .singleElement()
                .satisfies(event -> {
                    Event.Failed failed = (Event.Failed) event;
                    assertThat(failed.cause()).isSameAs(thrown);
                    assertThat(failed.error()).isEqualTo("java.lang.IllegalStateException: not today");
                });
        assertThat(events)
                .filteredOn(Event.Buried.class::isInstance)
                .singleElement()
                .satisfies(event -> {
                    Event.Buried buried = (Event.Buried) event;
                    assertThat(buried.cause()).isSameAs(thrown);
                    assertThat(buried.fingerprint()).isEqualTo(column("fingerprint"));
                });
        assertThat(events)
                .filteredOn(Event.Summary.class::isInstance)
                .as("the node that stops summarises the rest")
                .singleElement()
                .satisfies(event -> assertThat(((Event.Summary) event).buried()).isEqualTo(1));
    }

    @Test
    void failureThatATransportReportsHasNoException() throws Exception {
        transport.answering(delivery -> DeliveryResult.failed("503"));
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR));
        enqueue(node, 1);

        assertThat(node.deliverDue()).isEqualTo(1);

        assertThat(events)
                .filteredOn(Event.Failed.class::isInstance)
                .singleElement()
                .satisfies(event -> {
                    Event.Failed failed = (Event.Failed) event;
                    assertThat(failed.error()).isEqualTo("503");
                    assertThat(failed.cause()).isNull();
                });
    }

    @Test
    void longerRetryAfterOfTheDestinationIsHonoured() throws Exception {
        transport.answering(delivery -> DeliveryResult.failed("429", Duration.ofHours(2)));
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR));
        enqueue(node, 1);

        assertThat(node.deliverDue()).isEqualTo(1);

        assertThat(untilDue(node)).isBetween(Duration.ofMinutes(119), Duration.ofMinutes(120));
    }

    @Test
    void shorterRetryAfterDoesNotShortenThePolicysDelay() throws Exception {
        Postrider node = handling(
                delivery -> {
                    throw new RetryLaterException("soon", Duration.ofSeconds(1));
                },
                topic -> topic.retry(IN_AN_HOUR));
        enqueue(node, 1);

        assertThat(node.deliverDue()).isEqualTo(1);

        assertThat(untilDue(node)).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(60));
    }

    @Test
    void slowDeliveryKeepsItsLease() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        Postrider node = handling(
                delivery -> {
                    entered.countDown();
                    await(finish);
                },
                topic -> {},
                this::shortLease);
        Postrider other = postrider();
        enqueue(node, 1);
        node.start();
        await(entered);

        never(
                "another worker gets it",
                Duration.ofSeconds(6),
                () -> !claim(other).isEmpty());
        finish.countDown();

        eventually("it is delivered", () -> live() == 0);
        assertThat(archived()).isEqualTo(1);
        assertThat(events).noneMatch(Event.LeaseLost.class::isInstance);
    }

    @Test
    void answerAfterALostLeaseChangesNothing() throws Exception {
        Queue<CompletableFuture<DeliveryResult>> open = answeringByHand();
        Postrider node = node(topic -> topic.maxInFlight(1)); // so that it has no free slot to claim the message again
        Postrider other = postrider();
        enqueue(node, 1);
        node.start();
        eventually("it is on its way", () -> !open.isEmpty());
        advance(Duration.ofMinutes(1));
        other.store().acknowledge(claim(other).get(0));

        open.element().complete(DeliveryResult.failed("late"));

        eventually("it is reported", () -> events.stream().anyMatch(Event.AlreadyFinished.class::isInstance));
        assertThat(live()).isZero();
        assertThat(archived()).isEqualTo(1);
    }

    @Test
    void messagesOfALostWorkerAreTakenOverAfterTheLease() throws Exception {
        Postrider node = node();
        enqueue(node, 3);
        List<Claim> lost = node.store().claim(request().lease(Duration.ofSeconds(7)));
        node.start();
        never(
                "they are delivered before",
                Duration.ofMillis(500),
                () -> !transport.deliveries().isEmpty());

        eventually("they are delivered", () -> live() == 0);
        assertThat(transport.deliveries()).hasSize(lost.size()).allMatch(delivery -> delivery.attempt() == 2);
    }

    @Test
    void messageLostOnItsLastAttemptIsBuried() throws Exception {
        Postrider node = node(topic -> topic.maxAttempts(1));
        enqueue(node, 1);
        node.store().claim(request().maxAttempts(1));
        advance(Duration.ofSeconds(31));

        node.start();

        eventually("it is dead", () -> column("state").equals("DEAD"));
        assertThat(column("reason")).isEqualTo("WORKER_LOST");
        assertThat(transport.deliveries()).isEmpty();
    }

    @Test
    void stopWaitsForDeliveriesAndReleasesWhatIsLeft() throws Exception {
        Queue<CompletableFuture<DeliveryResult>> open = answeringByHand();
        Postrider node = node(topic -> {}, options -> options.drainTimeout(Duration.ofSeconds(8)));
        enqueue(node, 3);
        node.start();
        eventually("all are on their way", () -> open.size() == 3);

        CompletableFuture<Void> stopped = CompletableFuture.runAsync(node::stop);
        open.remove().complete(DeliveryResult.delivered());
        open.remove().complete(DeliveryResult.delivered());
        stopped.get(SOON.toSeconds(), TimeUnit.SECONDS);

        assertThat(archived()).isEqualTo(2);
        assertThat(live()).isEqualTo(1);
        assertThat(column("state")).isEqualTo("PENDING");
        assertThat(column("attempts")).as("the attempt is not counted").isEqualTo("0");
        assertThat(claim(node)).as("released for others at once").hasSize(1);
    }

    @Test
    void stopInterruptsAHandlerThatOutlastsTheDrainWithoutCountingAFailure() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        Postrider node = handling(
                delivery -> {
                    entered.countDown();
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        interrupted.countDown();
                        throw e;
                    }
                },
                topic -> topic.maxAttempts(1),
                options -> options.drainTimeout(Duration.ZERO));
        enqueue(node, 1);
        node.start();
        await(entered);

        node.stop();

        await(interrupted);
        assertThat(column("state")).isEqualTo("PENDING");
        assertThat(column("attempts")).isEqualTo("0");
    }

    @Test
    void stopFromAHandlerStopsAfterThatHandler() throws Exception {
        CompletableFuture<Postrider> self = new CompletableFuture<>();
        CountDownLatch asked = new CountDownLatch(1);
        Postrider node = handling(
                delivery -> {
                    self.join().stop();
                    asked.countDown();
                },
                topic -> {});
        self.complete(node);
        enqueue(node, 1);
        node.start();

        await(asked);
        node.stop();

        assertThat(live()).as("its own delivery counts").isZero();
        enqueue(node, 1);
        node.wake();
        never("anything is delivered", Duration.ofMillis(300), () -> live() == 0);
    }

    @Test
    void startAndStopMayBeRepeatedAndComeInAnyOrder() throws Exception {
        Postrider node = node();
        node.start();
        node.start();
        enqueue(node, 20);
        node.wake();
        eventually("all are delivered", () -> live() == 0);
        assertThat(transport.messages()).extracting(Message::id).hasSize(20).doesNotHaveDuplicates();
        node.stop();
        node.stop();
        assertThatThrownBy(node::start).isInstanceOf(IllegalStateException.class);

        Postrider neverStarted = node();
        assertThatCode(neverStarted::stop).doesNotThrowAnyException();
    }

    @Test
    void pausedTopicIsNotClaimedUntilItIsResumed() throws Exception {
        String open = topic + "-open";
        Postrider node = postrider(builder -> builder.topic(topic, declared -> declared.deliver(transport))
                .topic(open, declared -> declared.deliver(transport))
                .dispatch(this::fastPolling));
        node.admin().pause(TopicName.of(topic), "me");
        enqueue(node, message().build());
        enqueue(node, Message.to(open).type("x").text("y").build());

        node.start();

        eventually("the other topic is delivered", () -> transport.deliveries().size() == 1);
        assertThat(transport.messages().get(0).topic()).isEqualTo(TopicName.of(open));
        assertThat(column("attempts")).isEqualTo("0");

        node.admin().resume(TopicName.of(topic), "me");
        eventually("it is delivered", () -> live() == 0);
    }

    @Test
    void topicUnknownToANodeIsLeftToNodesThatKnowIt() throws Exception {
        String known = topic + "-known";
        Postrider ignorant = postrider(builder -> builder.topic(topic)
                .topic(known, declared -> declared.deliver(transport))
                .dispatch(this::fastPolling));
        enqueue(ignorant, 5);
        ignorant.start();
        enqueue(ignorant, Message.to(known).type("x").text("y").build());
        eventually("its own is delivered", () -> transport.deliveries().size() == 1);
        assertThat(live()).isEqualTo(5);
        assertThat(query("SELECT MAX(attempts) FROM postrider_message WHERE topic = '" + topic + "'"))
                .isEqualTo("0");
        ignorant.stop();

        node().start();

        eventually("they are delivered", () -> live() == 0);
    }

    @Test
    void destinationThatDoesNotAnswerDelaysNoOtherTopic() throws Exception {
        String dead = topic + "-dead";
        RecordingTransport silent =
                new RecordingTransport().answeringLater(delivery -> new CompletableFuture<DeliveryResult>());
        Postrider node = postrider(builder -> builder.topic(
                        dead, declared -> declared.deliver(silent).maxInFlight(5))
                .topic(topic, declared -> declared.deliver(transport))
                .dispatch(options -> options.batchSize(10).maxInFlight(10).drainTimeout(Duration.ZERO)));
        for (int i = 0; i < 20; i++) {
            enqueue(node, Message.to(dead).type("x").text("y").build());
        }
        node.start();
        eventually("it is stuck", () -> silent.deliveries().size() >= 5);

        enqueue(node, 50);
        node.wake();

        eventually("the others are delivered", () -> live() == 0);
    }

    @Test
    void destinationThatIsDownIsRarelyAskedAndGetsEverythingWhenItIsBack() throws Exception {
        AtomicBoolean down = new AtomicBoolean(true);
        transport.answering(
                delivery -> down.get() ? DeliveryResult.failed("connection refused") : DeliveryResult.delivered());
        Postrider node = node(topic ->
                topic.retry(AT_ONCE).maxInFlight(10).breakerFailures(10).breakerPause(Duration.ofMillis(50)));
        enqueue(node, 200);

        node.start();

        eventually("the circuit opens repeatedly", () -> circuitOpenings() >= 5);
        int sent = transport.deliveries().size();
        assertThat((long) sent)
                .as("until the circuit opened, those in flight, and one per half-open state")
                .isLessThanOrEqualTo(10 + 10 + circuitOpenings());

        down.set(false);
        eventually("all are delivered", () -> live() == 0);
        assertThat(archived()).isEqualTo(200);
        assertThat(events).hasAtLeastOneElementOfType(Event.CircuitClosed.class);
    }

    private long circuitOpenings() {
        return events.stream().filter(Event.CircuitOpened.class::isInstance).count();
    }

    @Test
    void silentTransportHasFailedAfterItsTimeout() throws Exception {
        transport.answeringLater(delivery -> delivery.attempt() == 1
                ? new CompletableFuture<>()
                : CompletableFuture.completedFuture(DeliveryResult.delivered()));
        Postrider node = open(topic -> topic.deliver(transport).maxInFlight(1).retry(AT_ONCE), this::fastPolling);
        enqueue(node, 1);

        node.start();

        eventually("it is tried again and delivered", () -> live() == 0);
        assertThat(transport.deliveries()).extracting(Delivery::attempt).containsExactly(1, 2);
    }

    @Test
    void deliverDueRunsHandlersInTheCallingThread() throws Exception {
        List<Thread> threads = new ArrayList<>();
        Postrider node = handling(delivery -> threads.add(Thread.currentThread()), topic -> {});
        enqueue(node, 150);

        assertThat(node.deliverDue()).isEqualTo(150);

        assertThat(threads).hasSize(150).containsOnly(Thread.currentThread());
        assertThat(live()).isZero();
        assertThat(node.deliverDue()).as("nothing is left").isZero();
    }

    /** A claim that is lost would be buried, because these messages have one attempt. */
    @Test
    void stoppedDeliverDueLeavesTheRestToTheNextOne() throws Exception {
        for (int last = 1; last <= 13; last += 4) {
            List<MessageId> handled = new CopyOnWriteArrayList<>();
            Set<Thread> threads = ConcurrentHashMap.newKeySet();
            CountDownLatch reached = new CountDownLatch(last);
            DeliveryHandler handler = delivery -> {
                handled.add(delivery.message().id());
                threads.add(Thread.currentThread());
                reached.countDown();
            };
            Postrider node = onEightTopics(handler);
            for (int i = 0; i < 32; i++) {
                enqueue(
                        node,
                        Message.to(topic + "-" + i % 8)
                                .type("thing.happened")
                                .key("k" + i)
                                .json("{}")
                                .build());
            }

            CompletableFuture<Thread> caller = CompletableFuture.supplyAsync(() -> {
                node.deliverDue();
                return Thread.currentThread();
            });
            assertThat(reached.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
            node.stop();

            assertThat(threads).containsExactly(caller.get(SOON.toSeconds(), TimeUnit.SECONDS));
            assertThat(handled.size() + onEightTopics(handler).deliverDue()).isEqualTo(32);
            assertThat(handled).hasSize(32).doesNotHaveDuplicates();
            assertThat(query("SELECT COUNT(*) FROM postrider_message WHERE topic LIKE '" + topic + "-%'"))
                    .isEqualTo("0");
        }
    }

    private Postrider onEightTopics(DeliveryHandler handler) {
        return postrider(builder -> {
            for (int i = 0; i < 8; i++) {
                int lanes = i % 2;
                int atOnce = i < 4 ? 1 : 10;
                builder.topic(
                        topic + "-" + i,
                        declared -> declared.lanes(lanes)
                                .maxInFlight(atOnce)
                                .maxAttempts(1)
                                .deliver(handler));
            }
            return builder.dispatch(
                    options -> options.lease(Duration.ofSeconds(6)).pollInterval(Duration.ofSeconds(1)));
        });
    }

    @Test
    void deliverDueLeavesWhatIsNotDue() throws Exception {
        transport.answering(
                delivery -> delivery.attempt() == 1 ? DeliveryResult.failed("busy") : DeliveryResult.delivered());
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR));
        enqueue(node, message().build());
        enqueue(node, message().deliverAt(Instant.now().plusSeconds(1800)).build());

        assertThat(node.deliverDue()).isEqualTo(1);
        assertThat(node.deliverDue()).isZero();
        advance(Duration.ofMinutes(31));
        assertThat(node.deliverDue())
                .as("the scheduled one, which fails once too")
                .isEqualTo(1);
        advance(Duration.ofMinutes(61));
        assertThat(node.deliverDue()).isEqualTo(2);
        assertThat(live()).isZero();
    }

    @Test
    void deliverDueDeliversAndReportsWhatIsBehindAFullClaimOfUnreadableMessages() throws Exception {
        Postrider node = handling(delivery -> {}, topic -> {});
        enqueue(node, 210);
        execute("UPDATE postrider_message SET attributes = 'none' WHERE topic = '" + topic + "'");
        enqueue(node, 1);

        node.deliverDue();

        assertThat(live("DEAD")).isEqualTo(210);
        assertThat(live()).as("the others are delivered").isEqualTo(210);
        assertThat(buried())
                .hasSize(210)
                .allSatisfy(buried -> assertThat(buried.reason()).isEqualTo("UNREADABLE"));
        assertThat(summedUp(Event.Summary::buried)).isEqualTo(210);
    }

    @Test
    void deliverDueReadsOnBehindAFullReadOfUnreadableMessages() throws Exception {
        Postrider node = handling(delivery -> {}, topic -> topic.ordered().lanes(1));
        for (int i = 0; i < 260; i++) {
            enqueue(node, message().key("k" + i).build());
        }
        execute("UPDATE postrider_message SET attributes = 'none' WHERE topic = '" + topic + "'");
        enqueue(node, message().key("good").build());

        node.deliverDue();

        assertThat(live("PARKED")).isEqualTo(260);
        assertThat(live()).as("the other is delivered").isEqualTo(260);
        assertThat(events.stream().filter(Event.Parked.class::isInstance)).hasSize(260);
        assertThat(summedUp(Event.Summary::parked)).isEqualTo(260);
    }

    @Test
    void messagesBeyondALoweredLimitAreBuriedAndReportedAndTheNextAreDelivered() throws Exception {
        Postrider node = handling(delivery -> {}, topic -> topic.maxAttempts(2));
        enqueue(node, 110);
        execute("UPDATE postrider_message SET attempts = 5 WHERE topic = '" + topic + "'");
        enqueue(node, 1);

        node.deliverDue();

        assertThat(live("DEAD")).isEqualTo(110);
        assertThat(live()).as("the other is delivered").isEqualTo(110);
        assertThat(buried())
                .hasSize(110)
                .allSatisfy(buried -> assertThat(buried.reason()).isEqualTo("ATTEMPTS_EXHAUSTED"));
    }

    @Test
    void claimOfTheApplicationReportsTheMessagesThatItBuries() throws Exception {
        Postrider node = open(topic -> {}, this::fastPolling);
        enqueue(node, 2);
        execute("UPDATE postrider_message SET attributes = 'none' WHERE topic = '" + topic + "' AND seq = "
                + query("SELECT MIN(seq) FROM postrider_message WHERE topic = '" + topic + "'"));

        assertThat(claim(node)).hasSize(1);

        assertThat(buried()).hasSize(1).allSatisfy(buried -> {
            assertThat(buried.reason()).isEqualTo("UNREADABLE");
            assertThat(buried.message().topic()).isEqualTo(TopicName.of(topic));
        });
    }

    private long live(String state) throws SQLException {
        return Long.parseLong(query(
                "SELECT COUNT(*) FROM postrider_message WHERE state = '" + state + "' AND topic = '" + topic + "'"));
    }

    private List<Event.Buried> buried() {
        return events.stream()
                .filter(Event.Buried.class::isInstance)
                .map(Event.Buried.class::cast)
                .toList();
    }

    private long summedUp(ToLongFunction<Event.Summary> count) {
        return events.stream()
                .filter(Event.Summary.class::isInstance)
                .mapToLong(event -> count.applyAsLong((Event.Summary) event))
                .sum();
    }

    @Test
    void deliverDueBuriesWhatWasLostOnItsLastAttempt() throws Exception {
        Postrider node = node(topic -> topic.maxAttempts(1));
        enqueue(node, 1);
        node.store().claim(request().maxAttempts(1));
        advance(Duration.ofSeconds(31));

        assertThat(node.deliverDue()).isZero();

        assertThat(column("state")).isEqualTo("DEAD");
    }

    @Test
    void messageStagedInATransactionIsDeliveredWithoutWaitingForAPoll() throws Exception {
        Postrider node = node(topic -> {}, this::slowPolling);
        node.start();
        node.inTransaction(work -> work.stage(message().build()));
        eventually("the first is delivered, perhaps by the first poll", () -> live() == 0);

        long before = System.nanoTime();
        node.inTransaction(work -> work.stage(message().build()));
        eventually("the second is delivered", () -> live() == 0);

        assertThat(Duration.ofNanos(System.nanoTime() - before))
                .as("the poll interval is a minute")
                .isLessThan(BEFORE_A_POLL);
        assertThat(transport.deliveries()).hasSize(2);
    }

    @Test
    void handlerSendsMessagesInATransactionOfItsOwn() throws Exception {
        String further = topic + "-further";
        CompletableFuture<Postrider> self = new CompletableFuture<>();
        Postrider node = postrider(builder -> builder.topic(
                        topic,
                        declared -> declared.deliver((DeliveryHandler) delivery -> self.join()
                                .inTransaction(work -> work.stage(Message.to(further)
                                        .type("reply")
                                        .causationId(delivery.message().id().toString())
                                        .text("done")
                                        .build()))))
                .topic(further, declared -> declared.deliver(transport))
                .dispatch(this::slowPolling));
        self.complete(node);
        node.start();

        node.inTransaction(work -> work.stage(message().build()));

        eventually("the reply is delivered", () -> transport.deliveries().size() == 1);
        eventually("the message is done", () -> live() == 0);
    }

    @Test
    void scheduledMessageOfAFarYearDisturbsNoOther() throws Exception {
        Postrider node = node(topic -> {}, this::slowPolling);
        enqueue(node, message().deliverAt(Instant.parse("2500-01-01T00:00:00Z")).build());
        node.start();

        node.inTransaction(work -> work.stage(message().build()));

        eventually("the other is delivered", () -> live() == 1);
        assertThat(column("attempts")).isEqualTo("0");
    }

    private Postrider node() {
        return node(topic -> {});
    }

    private Postrider node(Consumer<Topic.Builder> declaration) {
        return node(declaration, this::fastPolling);
    }

    private Postrider node(Consumer<Topic.Builder> declaration, Consumer<DispatchOptions.Builder> options) {
        return open(declared -> declaration.accept(declared.deliver(new Patient(transport))), options);
    }

    private Postrider handling(DeliveryHandler handler, Consumer<Topic.Builder> declaration) {
        return handling(handler, declaration, this::fastPolling);
    }

    private Postrider handling(
            DeliveryHandler handler, Consumer<Topic.Builder> declaration, Consumer<DispatchOptions.Builder> options) {
        return open(declared -> declaration.accept(declared.deliver(handler)), options);
    }

    private Postrider open(Consumer<Topic.Builder> declaration, Consumer<DispatchOptions.Builder> options) {
        return postrider(
                builder -> builder.topic(topic, declaration).dispatch(options).listener(events::add));
    }

    private void fastPolling(DispatchOptions.Builder options) {
        options.pollInterval(Duration.ofMillis(100));
    }

    private void slowPolling(DispatchOptions.Builder options) {
        options.lease(Duration.ofMinutes(3)).pollInterval(Duration.ofMinutes(1));
    }

    private void shortLease(DispatchOptions.Builder options) {
        options.lease(Duration.ofSeconds(5)).pollInterval(Duration.ofMillis(100));
    }

    /** From now on, the test completes each delivery. */
    private Queue<CompletableFuture<DeliveryResult>> answeringByHand() {
        Queue<CompletableFuture<DeliveryResult>> open = new ConcurrentLinkedQueue<>();
        transport.answeringLater(delivery -> {
            CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
            open.add(answer);
            return answer;
        });
        return open;
    }

    private Duration untilDue(Postrider node) {
        TopicName name = TopicName.of(topic);
        return node.store().nextDue(List.of(name)).getOrDefault(name, Duration.ZERO);
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    private static void eventually(String what, Callable<Boolean> condition) throws Exception {
        assertThat(happens(SOON, condition)).as(what).isTrue();
    }

    private static void never(String what, Duration during, Callable<Boolean> condition) throws Exception {
        assertThat(happens(during, condition)).as(what).isFalse();
    }

    /** Checks the condition repeatedly, with a short pause, until it is true or the time is over. */
    private static boolean happens(Duration within, Callable<Boolean> condition) throws Exception {
        CountDownLatch breath = new CountDownLatch(1);
        long deadline = System.nanoTime() + within.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() - deadline > 0 || breath.await(10, TimeUnit.MILLISECONDS)) {
                return false;
            }
        }
        return true;
    }
}
