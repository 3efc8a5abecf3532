package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.postrider.Postrider;
import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.Change;
import dev.postrider.admin.CommandAdmin;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.admin.TopicStatus;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The contract of the administration: counts, dead letters, replay, discard, pause, and the audit row of each action. */
public abstract class AdminContract extends DatabaseContract {

    @Test
    void statusCountsEveryStateOfEveryTopic() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 7);
        enqueue(postrider, message().deliverAt(Instant.now().plusSeconds(3600)).build());
        List<Claim> claims = postrider.store().claim(request().limit(4));
        postrider.store().bury(claims.get(0), DeadReason.REJECTED, "no");
        postrider.store().reschedule(claims.get(1), Duration.ofMinutes(5), "later");
        postrider.store().acknowledge(claims.get(2));
        advance(Duration.ofSeconds(10));

        TopicStatus status = status(postrider);

        assertThat(status.waiting()).isEqualTo(3);
        assertThat(status.scheduled()).isEqualTo(1);
        assertThat(status.retrying()).isEqualTo(1);
        assertThat(status.processing()).isEqualTo(1);
        assertThat(status.dead()).isEqualTo(1);
        assertThat(status.backlog()).isEqualTo(6);
        assertThat(status.paused()).isFalse();
        assertThat(status.oldest()).isBetween(Duration.ofSeconds(10), Duration.ofMinutes(1));
    }

    @Test
    void oldestIsTheAgeOfAMessageThatIsRetryingAndNotOfAScheduledOrDeadOne() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, message().deliverAt(Instant.now().plusSeconds(7200)).build());
        enqueue(postrider, 1);
        postrider.store().bury(claim(postrider).get(0), DeadReason.REJECTED, "no");
        advance(Duration.ofMinutes(10));
        assertThat(status(postrider).oldest()).isZero();

        enqueue(postrider, 1);
        postrider.store().reschedule(claim(postrider).get(0), Duration.ofHours(1), "later");
        advance(Duration.ofMinutes(5));

        TopicStatus status = status(postrider);
        assertThat(status.retrying()).isEqualTo(1);
        assertThat(status.backlog()).isEqualTo(2);
        assertThat(status.oldest()).isBetween(Duration.ofMinutes(5), Duration.ofMinutes(6));
    }

    @Test
    void topicWithoutMessagesHasAStatusToo() {
        TopicStatus status = status(postrider());
        assertThat(status.backlog()).isZero();
        assertThat(status.oldest()).isZero();
    }

    @Test
    void emptyTopicCanBeRemovedAndDeclaringItBringsItBack() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        assertThat(postrider.admin().remove(topic, "ann")).isEqualTo(Repair.IN_USE);
        postrider.store().bury(claim(postrider).get(0), DeadReason.REJECTED, "no");
        assertThat(postrider.admin().remove(topic, "ann"))
                .as("a dead letter may be replayed")
                .isEqualTo(Repair.IN_USE);
        MessageId dead =
                postrider.admin().deadLetters(topic, 1).get(0).message().id();
        postrider.admin().discard(dead, "ann");

        assertThat(postrider.admin().remove(topic, "ann")).isEqualTo(Repair.DONE);

        assertThat(postrider.admin().remove(topic, "ann")).isEqualTo(Repair.NOT_FOUND);
        assertThat(postrider.admin().remove("never-declared", "ann")).isEqualTo(Repair.NOT_FOUND);
        assertThat(listed(postrider)).isFalse();
        Postrider stranger = postrider(builder -> builder);
        assertThatThrownBy(() -> enqueue(stranger, 1)).isInstanceOf(UnknownTopicException.class);

        assertThat(listed(postrider())).isTrue();
        enqueue(stranger, 1);
        assertThat(claim(postrider)).hasSize(1);
    }

    @Test
    void unknownTopicHasEmptyListsAndIsNotFoundWhenRemoved() {
        Postrider postrider = postrider();
        String unknown = topic + "-typo";

        assertThat(postrider.admin().deadLetters(unknown, 10)).isEmpty();
        assertThat(postrider.admin().blockedKeys(unknown, 10)).isEmpty();
        assertThat(postrider.admin().lanes(TopicName.of(unknown))).isEmpty();
        assertThat(postrider.admin().remove(unknown, "ann")).isEqualTo(Repair.NOT_FOUND);
    }

    @Test
    void messageOfAProcessThatKnewARemovedTopicIsListedAndDelivered() throws SQLException {
        Postrider writer = postrider();
        enqueue(writer, 1);
        writer.store().acknowledge(claim(writer).get(0));
        assertThat(writer.admin().remove(topic, "ann")).isEqualTo(Repair.DONE);

        enqueue(writer, 1);

        assertThat(status(writer).waiting()).isEqualTo(1);
        assertThat(claim(postrider())).hasSize(1);
    }

    private boolean listed(Postrider postrider) {
        return postrider.admin().status().stream()
                .anyMatch(status -> status.topic().equals(TopicName.of(topic)));
    }

    private TopicStatus status(Postrider postrider) {
        return postrider.admin().status().stream()
                .filter(status -> status.topic().equals(TopicName.of(topic)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void deadLettersAreListedPageByPage() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 5);
        for (Claim claim : claim(postrider)) {
            postrider.store().bury(claim, DeadReason.ATTEMPTS_EXHAUSTED, "timeout after " + claim.seq() + " ms");
        }

        List<StoredMessage> all = new ArrayList<>();
        List<StoredMessage> page = postrider.admin().deadLetters(TopicName.of(topic), 0, 2);
        while (!page.isEmpty()) {
            all.addAll(page);
            page = postrider
                    .admin()
                    .deadLetters(TopicName.of(topic), page.get(page.size() - 1).seq(), 2);
        }

        assertThat(all).hasSize(5).allSatisfy(dead -> {
            assertThat(dead.state()).isEqualTo(State.DEAD);
            assertThat(dead.reason()).isEqualTo("ATTEMPTS_EXHAUSTED");
            assertThat(dead.lastError()).startsWith("timeout after");
            assertThat(dead.attempts()).isEqualTo(1);
        });
        assertThat(all)
                .extracting(StoredMessage::fingerprint)
                .as("alike but for numbers")
                .containsOnly(all.get(0).fingerprint());
        assertThatThrownBy(() -> postrider.admin().deadLetters(TopicName.of(topic), 0, 0))
                .isInstanceOf(InvalidConfigurationException.class);
    }

    @Test
    void unreadableDeadLetterIsListedWithTheOthersAndCanBeDiscarded() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 3);
        for (Claim claim : claim(postrider)) {
            postrider.store().bury(claim, DeadReason.REJECTED, "no");
        }
        List<StoredMessage> before = postrider.admin().deadLetters(topic, 10);
        MessageId bad = before.get(1).message().id();
        execute("UPDATE postrider_message SET attributes = '{\"broken', content_type = '' WHERE seq = "
                + before.get(1).seq());

        List<StoredMessage> dead = postrider.admin().deadLetters(topic, 10);

        assertThat(dead)
                .extracting(letter -> letter.message().id())
                .containsExactly(
                        before.get(0).message().id(),
                        bad,
                        before.get(2).message().id());
        assertThat(dead.get(1)).isEqualTo(find(postrider, bad));
        assertThat(dead.get(1).message().type()).isEqualTo(StoredMessage.UNREADABLE_TYPE);
        assertThat(dead.get(1).message().payload().asText())
                .isEqualTo(before.get(1).message().payload().asText());
        assertThat(dead.get(1).lastError()).contains("makes no message");
        assertThat(postrider.admin().discard(bad, "ada")).isEqualTo(Repair.DONE);
        assertThat(postrider.admin().deadLetters(topic, 10)).hasSize(2);
    }

    /** Rows of other software: their ids contain no time, so the time of the row is that of the message. */
    @Test
    void timesThatNoMessageCanHaveHideNoDeadLetter() throws SQLException {
        Postrider postrider = postrider();
        Message bad = message().id(new MessageId(UUID.randomUUID())).build();
        enqueue(postrider, bad);
        enqueue(postrider, 1);
        for (Claim claim : claim(postrider)) {
            postrider.store().bury(claim, DeadReason.REJECTED, "no");
        }
        List<String> times = product().equals("PostgreSQL")
                ? List.of("1000-01-01 00:00:00", "0044-03-15 00:00:00 BC", "infinity", "-infinity")
                : List.of("1000-01-01 00:00:00");

        for (String time : times) {
            execute("UPDATE postrider_message SET attributes = NULL, created_at = '" + time + "' WHERE topic = '"
                    + topic
                    + "' AND seq = (SELECT lowest FROM (SELECT MIN(seq) AS lowest FROM postrider_message WHERE topic = '"
                    + topic + "') AS found)");

            List<StoredMessage> dead = postrider.admin().deadLetters(topic, 10);
            assertThat(dead).as(time).hasSize(2);
            assertThat(dead.get(0).message().id()).isEqualTo(bad.id());
            assertThat(dead.get(0).message().type()).isEqualTo(StoredMessage.UNREADABLE_TYPE);
            assertThat(find(postrider, bad.id()).lastError()).contains("makes no message");
        }
        assertThat(postrider.admin().discard(bad.id(), "ada")).isEqualTo(Repair.DONE);
    }

    @Test
    void unreadableMessageIsFoundInTheArchiveToo() throws SQLException {
        Postrider postrider = postrider();
        Message message = message().build();
        enqueue(postrider, message);
        postrider.store().acknowledge(claim(postrider).get(0));
        execute("UPDATE postrider_archive SET attributes = '{\"broken' WHERE topic = '" + topic + "'");

        assertThat(find(postrider, message.id()).state()).isEqualTo(State.DELIVERED);
        assertThat(find(postrider, message.id()).message().type()).isEqualTo(StoredMessage.UNREADABLE_TYPE);
    }

    @Test
    void messageIsFoundWhereverItIs() throws SQLException {
        Postrider postrider = postrider();
        Message message = message().build();
        assertThat(postrider.admin().find(message.id())).isEmpty();

        enqueue(postrider, message);
        assertThat(find(postrider, message.id()).state()).isEqualTo(State.PENDING);
        assertThat(find(postrider, message.id()).deliveredAt()).isNull();

        Claim claim = claim(postrider).get(0);
        assertThat(find(postrider, message.id()).state()).isEqualTo(State.PROCESSING);
        assertThat(find(postrider, message.id()).worker()).isEqualTo("worker");

        postrider.store().acknowledge(claim);
        StoredMessage delivered = find(postrider, message.id());
        assertThat(delivered.state()).isEqualTo(State.DELIVERED);
        assertThat(delivered.availableAt()).as("when it was due").isEqualTo(delivered.createdAt());
        assertThat(delivered.deliveredAt()).isNotNull().isAfterOrEqualTo(delivered.createdAt());
        assertThat(find(postrider, message.id()).message()).isEqualTo(message);
    }

    private static StoredMessage find(Postrider postrider, MessageId id) {
        return postrider.admin().find(id).orElseThrow();
    }

    @Test
    void replayedDeadLetterIsDueNowWithAllItsAttemptsBeforeIt() throws SQLException {
        Postrider postrider = postrider();
        Message message = dead(postrider);

        assertThat(postrider.admin().replay(message.id(), "ada")).isEqualTo(Repair.DONE);

        assertThat(claim(postrider)).singleElement().satisfies(claim -> {
            assertThat(claim.message()).isEqualTo(message);
            assertThat(claim.attempt()).isEqualTo(1);
        });
        assertThat(audit(message.id())).isEqualTo("ada REPLAY");
    }

    @Test
    void discardedDeadLetterIsGoneAndItsKeyStaysUsed() throws SQLException {
        Postrider postrider = postrider();
        Message message = dead(postrider);

        assertThat(postrider.admin().discard(message.id(), "ada")).isEqualTo(Repair.DONE);

        assertThat(live()).isZero();
        assertThat(audit(message.id())).isEqualTo("ada DISCARD");
        assertThat(enqueue(postrider, message().idempotencyKey("k").build()).isDuplicate())
                .isTrue();
    }

    @Test
    void onlyDeadLettersAreRepaired() throws SQLException {
        Postrider postrider = postrider();
        Message message = message().build();
        assertThat(postrider.admin().replay(message.id(), "ada")).isEqualTo(Repair.NOT_FOUND);
        assertThat(postrider.admin().discard(message.id(), "ada")).isEqualTo(Repair.NOT_FOUND);

        enqueue(postrider, message);
        assertThat(postrider.admin().replay(message.id(), "ada")).isEqualTo(Repair.WRONG_STATE);
        claim(postrider);
        assertThat(postrider.admin().discard(message.id(), "ada")).isEqualTo(Repair.WRONG_STATE);
        assertThat(live()).isEqualTo(1);
        assertThat(audit(message.id())).isEqualTo("none");
    }

    @Test
    void twoOperatorsWhoReplayOneDeadLetterReplayItOnce() throws Exception {
        Postrider postrider = postrider();
        Message message = dead(postrider);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<Future<Repair>> answers = threads.invokeAll(List.of(
                    () -> postrider.admin().replay(message.id(), "ada"),
                    () -> postrider.admin().replay(message.id(), "bob")));
            List<Repair> results = new ArrayList<>();
            for (Future<Repair> answer : answers) {
                results.add(answer.get());
            }
            assertThat(results).containsExactlyInAnyOrder(Repair.DONE, Repair.WRONG_STATE);
        } finally {
            threads.shutdownNow();
        }
        assertThat(claim(postrider)).hasSize(1);
    }

    @Test
    void pausingTwiceIsPausingOnceAndUnknownTopicsAreRefused() throws SQLException {
        Postrider postrider = postrider();
        postrider.admin().pause(TopicName.of(topic), "ada");
        postrider.admin().pause(TopicName.of(topic), "ada");
        assertThat(status(postrider).paused()).isTrue();
        postrider.admin().resume(TopicName.of(topic), "ada");
        assertThat(status(postrider).paused()).isFalse();

        assertThatThrownBy(() -> postrider.admin().pause(TopicName.of("unheard-of"), "ada"))
                .isInstanceOf(UnknownTopicException.class);
        assertThatThrownBy(() -> postrider.admin().pause(TopicName.of(topic), " "))
                .isInstanceOf(InvalidConfigurationException.class);
        assertThat(status(postrider).paused()).as("no change without a name").isFalse();
    }

    @Test
    void reasonOfAChangeOfATopicIsInTheAudit() {
        Admin admin = postrider().admin();
        TopicName name = TopicName.of(topic);

        admin.pause(name, Change.by("ada").reason("the partner moves"));
        admin.resume(name, Change.by("ada").reason("moved"));
        assertThat(admin.remove(name, Change.by("bob").reason("misspelled"))).isEqualTo(Repair.DONE);

        assertThat(admin.audit(Long.MAX_VALUE, 3))
                .extracting(AuditEntry::operator, AuditEntry::action, AuditEntry::reason)
                .containsExactly(
                        tuple("bob", "REMOVE", "misspelled"),
                        tuple("ada", "RESUME", "moved"),
                        tuple("ada", "PAUSE", "the partner moves"));
        assertThatThrownBy(() -> admin.pause(name, Change.dryRun())).isInstanceOf(InvalidConfigurationException.class);
    }

    @Test
    @SuppressWarnings("NullAway") // like an application without NullAway
    void operatorWhoIsNotNamedIsRefusedFirstWhateverWouldChange() {
        Postrider postrider = postrider();
        Admin admin = postrider.admin();
        TopicName nowhere = TopicName.of("unheard-of");
        MessageId nothing = MessageId.next();
        for (String name : Arrays.asList(null, "", " ", "a\nb", "a\0b", "\uD83D", "\uDE00x", "x".repeat(256))) {
            List<ThrowingCallable> calls = List.of(
                    () -> admin.retry(nowhere, null, "a", name),
                    () -> admin.bury(nowhere, null, "a", nothing, name),
                    () -> admin.replay(nothing, name),
                    () -> admin.discard(nothing, name),
                    () -> admin.pause(nowhere, name),
                    () -> admin.resume(nowhere, name),
                    () -> admin.remove(nowhere, name),
                    () -> admin.retire("unheard-of", "nothing", name),
                    () -> admin.partitionInboxMarks(name),
                    () -> postrider
                            .admin()
                            .commands()
                            .resolve(UUID.randomUUID(), CommandAdmin.Resolution.RELEASED, name));
            assertThat(calls)
                    .allSatisfy(call -> assertThatThrownBy(call)
                            .isInstanceOf(InvalidConfigurationException.class)
                            .hasMessageStartingWith("operator "));
        }
        assertThat(admin.replay(nothing, "Zoë 😀")).isEqualTo(Repair.NOT_FOUND);
    }

    private Message dead(Postrider postrider) throws SQLException {
        Message message = message().idempotencyKey("k").build();
        enqueue(postrider, message);
        postrider.store().bury(claim(postrider).get(0), DeadReason.REJECTED, "no");
        return message;
    }

    private String audit(MessageId id) throws SQLException {
        String hex = id.toString().replace("-", "");
        String match = switch (product()) {
            case "PostgreSQL", "H2" -> "message_id = '" + id + "'";
            default -> "message_id = UNHEX('" + hex + "')";
        };
        return query("SELECT CONCAT(operator, ' ', action) FROM postrider_audit WHERE " + match);
    }
}
