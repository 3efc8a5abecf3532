package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.FailureGroup;
import dev.postrider.admin.FailureGroups;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Paging;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.encryption.AesGcmPayloadCipher;
import dev.postrider.encryption.PayloadCipher;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.DeadReason;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The contract of lists for operators: filters, pages, groups of failures, and the list of the audit. */
public abstract class MessageListContract extends DatabaseContract {

    private static final Instant PAST = Instant.parse("2000-01-01T00:00:00Z");
    private static final Instant FUTURE = Instant.parse("2200-01-01T00:00:00Z");

    /** The message of each state, of an unordered topic. */
    private record OneOfEach(
            Message pending,
            Message scheduled,
            Message retrying,
            Message processing,
            Message dead,
            Message delivered) {}

    private OneOfEach oneOfEach(Postrider postrider) throws SQLException {
        Message dead = message()
                .type("order.dead")
                .tenant("acme")
                .idempotencyKey("k-dead")
                .build();
        Message retrying = message().type("order.retrying").correlationId("c_1").build();
        Message delivered =
                message().type("order.delivered").correlationId("c_1").build();
        Message processing = message()
                .type("order.processing")
                .header("correlationId", "c_1")
                .build();
        for (Message message : List.of(dead, retrying, delivered, processing)) {
            enqueue(postrider, message);
        }
        List<Claim> claims = claim(postrider);
        postrider.store().bury(claims.get(0), DeadReason.REJECTED, "100% wrong_value at 17 ms");
        postrider.store().reschedule(claims.get(1), Duration.ofMinutes(5), "timeout");
        postrider.store().acknowledge(claims.get(2));
        Message pending = message().type("order.pending").build();
        Message scheduled = message()
                .type("order.scheduled")
                .deliverAt(Instant.now().plusSeconds(3600))
                .build();
        enqueue(postrider, pending);
        enqueue(postrider, scheduled);
        return new OneOfEach(pending, scheduled, retrying, processing, dead, delivered);
    }

    private Filter here(State... states) {
        return Filter.in(states).topic(topic);
    }

    private static List<MessageId> ids(Admin admin, Filter filter) {
        return ids(admin.messages(filter, Paging.oldest(100)));
    }

    private static List<MessageId> ids(MessagePage page) {
        return page.messages().stream().map(MessageSummary::id).toList();
    }

    @Test
    void everyStateIsListedByTheWordOfOperators() throws SQLException {
        Postrider postrider = postrider();
        OneOfEach one = oneOfEach(postrider);
        Admin admin = postrider.admin();

        assertThat(ids(admin, here(State.PENDING)))
                .containsExactly(one.pending().id());
        assertThat(ids(admin, here(State.SCHEDULED)))
                .containsExactly(one.scheduled().id());
        assertThat(ids(admin, here(State.RETRYING)))
                .containsExactly(one.retrying().id());
        assertThat(ids(admin, here(State.PROCESSING)))
                .containsExactly(one.processing().id());
        assertThat(ids(admin, here(State.DEAD))).containsExactly(one.dead().id());
        assertThat(ids(admin, here(State.DELIVERED)))
                .containsExactly(one.delivered().id());
        assertThat(ids(admin, here(State.BLOCKED, State.PARKED))).isEmpty();
        assertThat(ids(admin, here(State.DEAD, State.RETRYING)))
                .containsExactly(one.dead().id(), one.retrying().id());
        for (State state : EnumSet.complementOf(EnumSet.of(State.UNKNOWN))) {
            assertThat(admin.messages(here(state), Paging.oldest(10)).messages())
                    .allSatisfy(listed -> assertThat(listed.state()).isEqualTo(state));
        }
    }

    @Test
    void listedMessageSaysWhatTheDetailSays() throws SQLException {
        Postrider postrider = postrider();
        OneOfEach one = oneOfEach(postrider);
        Admin admin = postrider.admin();

        MessageSummary dead =
                admin.messages(here(State.DEAD), Paging.oldest(1)).messages().get(0);
        StoredMessage detail = admin.find(one.dead().id()).orElseThrow();
        assertThat(dead.seq()).isEqualTo(detail.seq());
        assertThat(dead.topic()).isEqualTo(TopicName.of(topic));
        assertThat(dead.type()).isEqualTo("order.dead");
        assertThat(dead.tenant()).isEqualTo("acme");
        assertThat(dead.idempotencyKey()).isEqualTo("k-dead");
        assertThat(dead.orderingKey()).isNull();
        assertThat(dead.attempts()).isEqualTo(1);
        assertThat(dead.payloadBytes()).isEqualTo(7);
        assertThat(dead.createdAt()).isEqualTo(detail.createdAt());
        assertThat(dead.dueAt()).isEqualTo(detail.availableAt());
        assertThat(dead.changedAt()).isNotNull().isAfterOrEqualTo(dead.createdAt());
        assertThat(dead.deliveredAt()).isNull();
        assertThat(dead.lastError()).isEqualTo(detail.lastError()).contains("wrong_value");
        assertThat(dead.reason()).isEqualTo("REJECTED");
        assertThat(dead.fingerprint()).isEqualTo(detail.fingerprint()).isNotNull();
        assertThat(admin.messages(here(State.PROCESSING), Paging.oldest(1))
                        .messages()
                        .get(0)
                        .worker())
                .isEqualTo("worker");

        MessageSummary delivered = admin.messages(here(State.DELIVERED), Paging.oldest(1))
                .messages()
                .get(0);
        assertThat(delivered.deliveredAt()).isNotNull().isAfterOrEqualTo(delivered.createdAt());
        assertThat(delivered.dueAt()).isNull();
    }

    @Test
    void everyConditionSelectsItsMessagesOnly() throws SQLException {
        Postrider postrider = postrider();
        OneOfEach one = oneOfEach(postrider);
        Admin admin = postrider.admin();
        MessageId dead = one.dead().id();
        String fingerprint = admin.find(dead).orElseThrow().fingerprint();

        assertThat(ids(admin, here().tenant("acme"))).containsExactly(dead);
        assertThat(ids(admin, here().tenant("ACME"))).isEmpty();
        assertThat(ids(admin, here().type("order.dead"))).containsExactly(dead);
        assertThat(ids(admin, here().idempotencyKey("k-dead"))).containsExactly(dead);
        assertThat(ids(admin, here().orderingKey("none"))).isEmpty();
        assertThat(ids(admin, here().fingerprint(String.valueOf(fingerprint)))).containsExactly(dead);
        assertThat(ids(admin, here().errorContains("wrong_value"))).containsExactly(dead);
        assertThat(ids(admin, here().ids(List.of(dead, one.delivered().id(), MessageId.next()))))
                .isNotEmpty();
        assertThat(ids(
                        admin,
                        Filter.delivered().ids(List.of(dead, one.delivered().id()))))
                .containsExactly(one.delivered().id());
        assertThat(ids(admin, Filter.all().ids(List.of(dead)))).containsExactly(dead);
        assertThat(ids(admin, here(State.DELIVERED).attemptsAtLeast(1)))
                .containsExactly(one.delivered().id());
        assertThat(ids(admin, here(State.RETRYING, State.PENDING).attemptsAtLeast(1)))
                .containsExactly(one.retrying().id());
        assertThat(ids(admin, here().attemptsAtLeast(2))).isEmpty();
        assertThat(ids(admin, here(State.DEAD).created(PAST, FUTURE))).containsExactly(dead);
        assertThat(ids(admin, here(State.DEAD).created(FUTURE, null))).isEmpty();
        assertThat(ids(admin, here().due(Instant.now().plusSeconds(600), FUTURE)))
                .containsExactly(one.scheduled().id());
        assertThat(ids(admin, here().delivered(PAST, null)))
                .containsExactly(one.delivered().id());
        assertThat(ids(admin, here().delivered(null, PAST))).isEmpty();
        assertThat(ids(admin, here(State.DEAD).namespace("default"))).containsExactly(dead);
        assertThat(ids(admin, here(State.DEAD).namespace("no-such"))).isEmpty();
        assertThat(ids(admin, Filter.dead().topic("no-such"))).isEmpty();
        assertThat(ids(admin, here(State.DEAD).tenant("acme").type("order.pending")))
                .isEmpty();
    }

    @Test
    void correlationIdIsFoundInEveryStateAndNotInAHeader() throws SQLException {
        Postrider postrider = postrider();
        OneOfEach one = oneOfEach(postrider);
        Message both = message()
                .header("a", "\"},\"correlationId\":\"c_1\"")
                .correlationId("odd \"id\" \\ 100%")
                .build();
        enqueue(postrider, both);
        Admin admin = postrider.admin();

        assertThat(ids(admin, here().correlationId("odd \"id\" \\ 100%"))).containsExactly(both.id());
        assertThat(ids(
                        admin,
                        here(State.RETRYING, State.PROCESSING, State.PENDING).correlationId("c_1")))
                .containsExactly(one.retrying().id());
        assertThat(ids(admin, here(State.DELIVERED).correlationId("c_1")))
                .containsExactly(one.delivered().id());
        assertThat(ids(admin, here().correlationId("cx1"))).as("no wildcard").isEmpty();
    }

    @Test
    void correlationIdAndSizeOfAPackedPayloadAreThoseOfTheMessage() throws SQLException {
        PayloadCipher cipher = AesGcmPayloadCipher.with("k1", new byte[32]);
        Postrider postrider = postrider(builder -> builder.topic(topic, declared -> declared.compressPayloadsAbove(100))
                .topic(topic + "-e", declared -> declared.encryptPayloads(cipher))
                .topic(
                        topic + "-ce",
                        declared -> declared.compressPayloadsAbove(100).encryptPayloads(cipher)));
        Admin admin = postrider.admin();
        for (String name : List.of(topic, topic + "-e", topic + "-ce")) {
            Message plain = Message.to(name)
                    .type("a")
                    .text("x".repeat(1000))
                    .correlationId("c_1")
                    .build();
            Message withHeaders = Message.to(name)
                    .type("a")
                    .text("x".repeat(1000))
                    .header("a", "b")
                    .correlationId("c_1")
                    .build();
            Message onlyAHeader = Message.to(name)
                    .type("a")
                    .text("x".repeat(1000))
                    .header("a", "b")
                    .header("correlationId", "c_1")
                    .header("headers", "{")
                    .correlationId("c_2")
                    .build();
            for (Message each : List.of(plain, withHeaders, onlyAHeader)) {
                enqueue(postrider, each);
            }

            assertThat(admin.messages(Filter.all().topic(TopicName.of(name)), Paging.oldest(10))
                            .messages())
                    .as("the size before it was packed")
                    .extracting(MessageSummary::payloadBytes)
                    .containsOnly(1000L);
            Filter found = Filter.all().topic(TopicName.of(name)).correlationId("c_1");
            assertThat(ids(admin, found)).containsExactly(plain.id(), withHeaders.id());
            for (Claim claim : postrider.store().claim(ClaimRequest.of(name, "worker"))) {
                postrider.store().acknowledge(claim);
            }
            Filter archived = Filter.delivered().topic(TopicName.of(name)).correlationId("c_1");
            assertThat(ids(admin, archived))
                    .as("in the archive")
                    .containsExactlyInAnyOrder(plain.id(), withHeaders.id());
        }
    }

    @Test
    void textOfAnErrorHasNoWildcardsAndNoSql() throws SQLException {
        Postrider postrider = postrider();
        OneOfEach one = oneOfEach(postrider);
        Admin admin = postrider.admin();

        assertThat(ids(admin, here().errorContains("100% wrong_")))
                .containsExactly(one.dead().id());
        for (String text : List.of(
                "100%_rong", "wrong%value", "wrongXvalue", "_", "%%", "!", "\\", "' OR '1' = '1", "--", "Wrong")) {
            boolean isThere = "100% wrong_value at 17 ms".contains(text);
            assertThat(ids(admin, here().errorContains(text)))
                    .as(text)
                    .isEqualTo(isThere ? List.of(one.dead().id()) : List.of());
        }
        assertThat(ids(admin, here().type("order.dead' OR '1' = '1"))).isEmpty();
        assertThat(ids(admin, here().tenant("Zoë 😀"))).isEmpty();
    }

    @Test
    void pagesFollowEachOtherInBothDirectionsFromTheQueueToTheArchive() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 7);
        for (Claim claim : postrider.store().claim(request().limit(4))) {
            postrider.store().acknowledge(claim);
        }
        Admin admin = postrider.admin();
        Filter filter = Filter.all().topic(topic);

        List<Long> oldest = seqs(admin, filter, Paging.oldest(2));
        List<Long> newest = seqs(admin, filter, Paging.newest(2));

        assertThat(oldest).hasSize(7).doesNotHaveDuplicates();
        assertThat(oldest.subList(0, 3)).as("those that wait").isSorted();
        assertThat(newest).hasSize(7).containsExactlyInAnyOrderElementsOf(oldest);
        assertThat(newest.subList(0, 3)).containsExactly(oldest.get(2), oldest.get(1), oldest.get(0));
        assertThat(newest.subList(3, 7)).containsExactly(oldest.get(6), oldest.get(5), oldest.get(4), oldest.get(3));
    }

    private static List<Long> seqs(Admin admin, Filter filter, Paging first) {
        List<Long> seqs = new ArrayList<>();
        Paging paging = first;
        while (true) {
            MessagePage page = admin.messages(filter, paging);
            assertThat(page.messages()).hasSizeLessThanOrEqualTo(first.limit());
            page.messages().forEach(message -> seqs.add(message.seq()));
            if (page.next() == null) {
                return seqs;
            }
            paging = first.after(page.next());
        }
    }

    @Test
    void messagesDeliveredInOneMomentAreListedOnce() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 9);
        for (Claim claim : claim(postrider)) {
            postrider.store().acknowledge(claim);
        }
        execute("UPDATE postrider_archive SET delivered_at = "
                + (product().equals("PostgreSQL")
                        ? "TIMESTAMPTZ '2024-02-29 12:00:00.123456+00'"
                        : product().equals("H2")
                                ? "TIMESTAMP WITH TIME ZONE '2024-02-29 12:00:00.123456+00'"
                                : "'2024-02-29 12:00:00.123456'")
                + " WHERE topic = '" + topic + "'");
        Admin admin = postrider.admin();

        assertThat(seqs(admin, here(State.DELIVERED), Paging.oldest(2)))
                .hasSize(9)
                .isSorted();
        assertThat(seqs(admin, here(State.DELIVERED), Paging.newest(4)))
                .hasSize(9)
                .doesNotHaveDuplicates();
        assertThat(admin.messages(here(State.DELIVERED), Paging.oldest(1))
                        .messages()
                        .get(0)
                        .deliveredAt())
                .isEqualTo(Instant.parse("2024-02-29T12:00:00.123456Z"));
    }

    @Test
    void failuresAreGroupedByFingerprintTopicAndType() throws SQLException {
        Postrider postrider = postrider();
        for (int i = 0; i < 5; i++) {
            enqueue(postrider, message().type(i < 4 ? "a" : "b").build());
        }
        List<Claim> claims = claim(postrider);
        for (int i = 0; i < 5; i++) {
            postrider
                    .store()
                    .bury(claims.get(i), DeadReason.REJECTED, i == 3 ? "no route" : "timeout after " + i + " ms");
        }
        Admin admin = postrider.admin();

        FailureGroups failures = admin.failures(Filter.all().topic(topic), 10);

        assertThat(failures.complete()).isTrue();
        assertThat(failures.groups()).hasSize(3);
        FailureGroup most = failures.groups().get(0);
        assertThat(most.count()).isEqualTo(3);
        assertThat(most.type()).isEqualTo("a");
        assertThat(most.topic()).isEqualTo(TopicName.of(topic));
        assertThat(most.sample()).isEqualTo(claims.get(2).message().id());
        assertThat(most.error()).isEqualTo("timeout after 2 ms");
        assertThat(most.first()).isBeforeOrEqualTo(most.last());
        assertThat(failures.groups()).extracting(FailureGroup::count).containsExactly(3L, 1L, 1L);
        assertThat(admin.failures(Filter.all().topic(topic), 1).groups()).hasSize(1);
        assertThat(ids(admin, here().type("a").fingerprint(String.valueOf(most.fingerprint()))))
                .hasSize(3);
        assertThat(admin.failures(Filter.dead().topic("no-such"), 10).groups()).isEmpty();
        assertThatThrownBy(() -> admin.failures(here(State.PENDING), 10))
                .isInstanceOf(InvalidConfigurationException.class);
    }

    @Test
    void auditIsListedPageByPageFromTheNewest() throws SQLException {
        Postrider postrider = postrider();
        Admin admin = postrider.admin();
        for (int i = 0; i < 3; i++) {
            admin.pause(topic, "ann-" + i);
        }
        List<AuditEntry> entries = new ArrayList<>();
        long before = Long.MAX_VALUE;
        List<AuditEntry> page;
        do {
            page = admin.audit(before, 2);
            entries.addAll(page);
            before = page.isEmpty() ? 0 : page.get(page.size() - 1).id();
        } while (!page.isEmpty());

        List<AuditEntry> mine =
                entries.stream().filter(entry -> topic.equals(entry.topic())).toList();
        assertThat(mine).extracting(AuditEntry::operator).containsExactly("ann-2", "ann-1", "ann-0");
        assertThat(mine).allSatisfy(entry -> {
            assertThat(entry.action()).isEqualTo("PAUSE");
            assertThat(entry.message()).isNull();
            assertThat(entry.filter()).isNull();
            assertThat(entry.reason()).isNull();
            assertThat(entry.changed()).isNull();
        });
    }

    @Test
    void senselessArgumentsAreRefused() {
        Admin admin = postrider().admin();
        Filter dead = Filter.dead();
        List<ThrowingCallable> calls = new ArrayList<>(List.of(
                () -> Paging.oldest(0),
                () -> Paging.newest(1001),
                () -> dead.attemptsAtLeast(0),
                () -> dead.ids(List.of()),
                () -> dead.created(null, null),
                () -> dead.created(FUTURE, PAST),
                () -> dead.created(Instant.MIN, PAST),
                () -> dead.due(PAST, Instant.MAX),
                () -> dead.namespace("x".repeat(256)),
                () -> dead.errorContains("x".repeat(1001)),
                () -> admin.audit(1, 0),
                () -> admin.failures(dead, 1001)));
        for (String odd : List.of("", " ", "a\0b", "a\nb", "\uD83D")) {
            calls.add(() -> dead.tenant(odd));
            calls.add(() -> dead.errorContains(odd));
        }
        for (String forged :
                List.of("", "m", "x1", "m1; DROP", "m-", "a1", "a999999999999999999.1", "m99999999999999999999")) {
            calls.add(() -> admin.messages(Filter.all(), Paging.oldest(10).after(forged)));
        }
        calls.add(() -> admin.messages(dead, Paging.oldest(10).after("a")));
        assertThat(calls)
                .allSatisfy(call -> assertThatThrownBy(call).isInstanceOf(InvalidConfigurationException.class));
        assertThat(admin.messages(dead.topic(topic), Paging.oldest(10).after("m-5"))
                        .messages())
                .isEmpty();
    }
}
