package dev.postrider.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs every example and checks what it says. */
@Timeout(180)
class ExamplesTest {

    @FunctionalInterface
    private interface Example {
        void run(Shop shop, Consumer<String> say) throws Exception;
    }

    private static List<String> saidBy(Example example) throws Exception {
        List<String> said = new CopyOnWriteArrayList<>();
        example.run(Shop.open(), said::add);
        return said;
    }

    @Test
    void quickStartDeliversWhatWasCommitted() throws Exception {
        assertThat(saidBy(QuickStart::run)).containsExactly("received {\"order\": 42}");
    }

    @Test
    void messageSharesTheFateOfItsTransaction() throws Exception {
        assertThat(saidBy(OutboxInATransaction::run))
                .containsExactly(
                        "committed: 1 order, 1 message",
                        "rolled back: still 1 order, 1 message",
                        "no transaction: AUTOCOMMIT, nothing is written");
    }

    @Test
    void unitOfWorkWritesAllOrNothing() throws Exception {
        assertThat(saidBy(StagedUnitOfWork::run))
                .containsExactly(
                        "committed: 1 order, 3 messages",
                        "the card was declined: still 1 order, 3 messages",
                        "answered 3");
    }

    @Test
    void topicChoosesWhatIsStored() throws Exception {
        assertThat(saidBy(StorageOfATopic::run))
                .containsExactly(
                        "stored in less than a tenth: true", "delivered 16010 bytes", "archived: orders, catalogues");
    }

    @Test
    void payloadsAreEncryptedInTheDatabaseAndDeliveredAfterAChangeOfTheKey() throws Exception {
        assertThat(saidBy(EncryptedPayloads::run))
                .containsExactly(
                        "the view shows: encrypted, 54 bytes",
                        "an operator sees: encrypted with key '2026-05', 54 bytes stored",
                        "delivered {\"card\": \"4111 1111\"}",
                        "delivered {\"card\": \"5555 5555\"}");
    }

    @Test
    void handlerInTheDatabaseTakesEffectOnce() throws Exception {
        assertThat(saidBy(HandledInTheDatabase::run)).containsExactly("attempts: 2", "orders: 1");
    }

    @Test
    void retriedCommandIsDoneOnce() throws Exception {
        assertThat(saidBy(RetriedCommand::run))
                .containsExactly(
                        "placed 42",
                        "placed 42, as before",
                        "this key was used for another order",
                        "there is no such order",
                        "there is no such order, as before",
                        "1 order");
    }

    @Test
    void chargeOfUnknownOutcomeIsNotRepeated() throws Exception {
        assertThat(saidBy(ChargedOnce::run))
                .containsExactly(
                        "failed: refused",
                        "charged",
                        "failed: no answer",
                        "outcome unknown: not repeated",
                        "outcome unknown: not repeated",
                        "charged, as the probe found",
                        "2 charges");
    }

    @Test
    void deterministicKeyMakesOneMessagePerEvent() throws Exception {
        assertThat(saidBy(OncePerEvent::run))
                .containsExactly(
                        "written", "already written", "written", "the duplicate names the first message: true");
    }

    @Test
    void keyWithoutItsTenantIsRefused() throws Exception {
        assertThat(saidBy(TenantPrefixedKeys::run))
                .containsExactly(
                        "acme/turn-1: written",
                        "globex/turn-1: refused, idempotency key must begin with 'acme/' on topic 'usage'",
                        "turn-1: refused, idempotency key must begin with 'acme/' on topic 'usage'");
    }

    @Test
    void callbackIsRetriedAndItsDeadLetterReplayedAndDiscarded() throws Exception {
        assertThat(saidBy(CallbackDelivery::run))
                .containsExactly(
                        "sent to ada@example at attempt 2",
                        "dead: nowhere, REJECTED",
                        "replay: DONE",
                        "tried again: 1",
                        "discard: DONE");
    }

    @Test
    void failuresAreGroupedAndTheLargestGroupIsReplayed() throws Exception {
        String permanent = "dev.postrider.transport.PermanentFailureException: ";
        assertThat(saidBy(RepairingFailures::run))
                .containsExactly(
                        "3 × orders order.placed: " + permanent + "no route to warehouse #",
                        "1 × orders order.cancelled: " + permanent + "unknown order",
                        "would change 3, for example order.placed",
                        "replayed 3, skipped 0",
                        "delivered 3, dead 1",
                        "ann REPLAY 3: route restored");
    }

    @Test
    void deadLettersAreReplayedInTheBackground() throws Exception {
        assertThat(saidBy(BackgroundRepair::run))
                .containsExactly(
                        "WAITING: REPLAY state=dead topic=orders",
                        "COMPLETED: changed 20, skipped 0",
                        "delivered 20",
                        "ann END_OPERATION 20: route restored");
    }

    @Test
    void deliveredMessagesAreRedeliveredToAReceiverThatLostData() throws Exception {
        assertThat(saidBy(RedeliveringMessages::run))
                .containsExactly(
                        "the warehouse has 3 orders",
                        "the warehouse is restored from a backup and has 2",
                        "would redeliver 3",
                        "redelivered 3, the warehouse has 3 orders",
                        "as a new message: DONE, the warehouse has 4 entries");
    }

    @Test
    void webhookArrivesWithAValidSignature() throws Exception {
        assertThat(saidBy(WebhookDelivery::run)).containsExactly("order.placed: {\"order\": 42}", "attempts: 1");
    }

    @Test
    void webhookThatComesTwiceIntoAnInboxTakesEffectOnce() throws Exception {
        assertThat(saidBy(WebhookIntoAnInbox::run))
                .containsExactly("answered 204", "answered 204", "invoice for Zoë + Søn: {\"order\": 42}");
    }

    @Test
    void orderPerKey() throws Exception {
        List<String> said = saidBy(OrderPerKey::run);
        assertThat(said.stream().filter(line -> line.startsWith("account-1 ")))
                .containsExactly("account-1 opened", "account-1 credited", "account-1 closed");
        assertThat(said.subList(3, said.size()))
                .containsExactly(
                        "account-2 is blocked by its head (REJECTED), 2 behind it",
                        "account-2 credited",
                        "account-2 closed");
    }

    @Test
    void offersThatExpiredOrWereWithdrawnAreNotSent() throws Exception {
        assertThat(saidBy(WithdrawnOffer::run))
                .containsExactly("withdrawn: CANCELLED", "sent all-year", "today-only: EXPIRED", "mistake: CANCELLED");
    }

    @Test
    void scheduledMessageWaitsForItsTime() throws Exception {
        assertThat(saidBy(ScheduledMessage::run)).containsExactly("pay-today", "waiting 0, scheduled 1");
    }

    @Test
    void expiredLeaseGoesToAnotherWorkerAndItsOldOwnerLearnsIt() throws Exception {
        assertThat(saidBy(OwnDeliveryLoop::run))
                .containsExactlyInAnyOrder(
                        "{\"order\": 1}, attempt 2, crashes 1",
                        "{\"order\": 2}, attempt 1, crashes 0",
                        "the hasty worker has lost its lease")
                .endsWith("the hasty worker has lost its lease");
    }

    @Test
    void pausedTopicWaitsWhileOthersGoOn() throws Exception {
        assertThat(saidBy(PausingATopic::run))
                .containsExactly("an audit entry", "while paused: 1", "an order", "after resuming: 1");
    }

    @Test
    void listenerHearsEveryOutcome() throws Exception {
        assertThat(saidBy(ListeningToEvents::run)).containsExactly("delivered 3, failed attempts 3");
    }

    @Test
    void outboxIsMeasuredAndJudged() throws Exception {
        assertThat(saidBy(MeasuredOutbox::run)).containsExactly("delivered 1, failed 1", "health: OK");
    }

    @Test
    void operatorReplaysOverHttp() throws Exception {
        assertThat(saidBy(AdminOverHttp::run))
                .containsExactly(
                        "without a token: 401",
                        "dead: order.placed, no stock",
                        "payload: {\"order\": 1}",
                        "replayed: {\"result\":\"done\"}",
                        "sent again: {\"result\":\"done\"}",
                        "delivered: 1",
                        "health: degraded");
    }

    @Test
    void twoNodesNeverHaveTheSameMessageInFlight() throws Exception {
        assertThat(saidBy(TwoNodes::run)).containsExactly("all arrived: true", "200 messages, 0 of them twice");
    }

    @Test
    void everyMessageTwiceIsHandledOnce() throws Exception {
        assertThat(saidBy(EveryMessageTwice::run))
                .containsExactly(
                        "order 1: handled",
                        "order 2: handled",
                        "order 1: had it before",
                        "order 2: had it before",
                        "another payload: set aside",
                        "of a batch: 1 new, 2 dropped",
                        "3 orders, 2 messages");
    }

    @Test
    void eachHandlerOfADurableInboxHasItsOwnFate() throws Exception {
        assertThat(saidBy(DurableInbox::run))
                .containsExactly(
                        "new: 1, then: 0",
                        "no credit for order 7",
                        "invoices: 1",
                        "dead: checkout-7, REJECTED",
                        "found: true");
    }

    @Test
    void paymentThatIsSentAgainIsPaidOnce() throws Exception {
        assertThat(saidBy(IdempotentPayments::run))
                .containsExactly(
                        "ada: 201 {\"paid\": 42}",
                        "ada: 201 {\"paid\": 42}, replayed",
                        "ada: 422 key-reused",
                        "bob: 201 {\"paid\": 44}",
                        "ada: 400 not a payment",
                        "ada: 400 missing-key",
                        "orders paid: 2");
    }

    @Test
    void requestCommandMessageAndHandlerAreOneConversation() throws Exception {
        assertThat(saidBy(OneConversation::run))
                .containsExactly(
                        "answer placed 42, and again placed 42",
                        "invoice.created {\"order\": 42} in conversation request-7",
                        "orders: 1");
    }

    @Test
    void traceLeadsFromTheRequestToTheMessageOfAHandler() throws Exception {
        assertThat(saidBy(TracedOutbox::run))
                .containsExactly(
                        "sent invoice.created",
                        "create orders, below POST /orders",
                        "POST /orders, below nothing",
                        "create invoices, below process orders",
                        "process orders, below create orders",
                        "send invoices, below create invoices");
    }

    @Test
    void everyExampleHasItsTest() throws Exception {
        String test = Files.readString(Path.of("src/test/java/dev/postrider/examples/ExamplesTest.java"));
        try (Stream<Path> sources = Files.list(Path.of("src/main/java/dev/postrider/examples"))) {
            assertThat(sources.filter(ExamplesTest::hasMain))
                    .isNotEmpty()
                    .allSatisfy(example -> assertThat(test)
                            .contains(
                                    "saidBy(" + example.getFileName().toString().replace(".java", "") + "::run)"));
        }
    }

    private static boolean hasMain(Path source) {
        try {
            return Files.readString(source).contains("public static void main(");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
