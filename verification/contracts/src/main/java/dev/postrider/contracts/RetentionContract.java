package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.admin.InboxStatus;
import dev.postrider.inbox.Inbox;
import dev.postrider.internal.store.RetentionStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.TableOptions;
import dev.postrider.store.TableOptions.Archive;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contract of the purge: rows past their retention are removed in small batches, and no others. Needs a separate database. */
public abstract class RetentionContract extends DatabaseContract {

    private static final Duration DAY = Duration.ofDays(1);

    @Test
    void archiveIsPurgedByAgeInChunks() throws SQLException {
        Postrider postrider = postrider();
        deliver(postrider, 5);
        advance(DAY.plusMinutes(1));
        deliver(postrider, 2);

        assertThat(retention().purgeArchive(DAY, 3)).isEqualTo(3);
        assertThat(retention().purgeArchive(DAY, 3)).isEqualTo(2);
        assertThat(retention().purgeArchive(DAY, 3)).isZero();
        assertThat(archived()).isEqualTo(2);
    }

    @Test
    void deadLettersArePurgedByAgeInChunksAndLiveMessagesStay() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 4);
        for (Claim claim : postrider.store().claim(request().limit(3))) {
            postrider.store().bury(claim, DeadReason.REJECTED, "no");
        }
        assertThat(retention().purgeDead(DAY, 2)).isZero();
        advance(DAY.plusMinutes(1));

        assertThat(retention().purgeDead(DAY, 2)).isEqualTo(2);
        assertThat(retention().purgeDead(DAY, 2)).isEqualTo(1);
        assertThat(live()).as("pending for just as long").isEqualTo(1);
    }

    @Test
    void replayedDeadLetterIsNotPurged() throws SQLException {
        Postrider postrider = postrider();
        Message message = message().build();
        enqueue(postrider, message);
        postrider.store().bury(claim(postrider).get(0), DeadReason.REJECTED, "no");
        advance(DAY.plusMinutes(1));
        postrider.admin().replay(message.id(), "ada");

        assertThat(retention().purgeDead(DAY, 10)).isZero();
        assertThat(live()).isEqualTo(1);
    }

    @Test
    void keyIsPurgedByAgeButNeverWhileItsMessageIsWaitingOrDead() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, message().idempotencyKey("delivered").build());
        postrider.store().acknowledge(claim(postrider).get(0));
        enqueue(postrider, message().idempotencyKey("dead").build());
        postrider.store().bury(claim(postrider).get(0), DeadReason.REJECTED, "no");
        enqueue(postrider, message().idempotencyKey("waiting").build());
        assertThat(retention().purgeKeys(DAY, 10)).isZero();
        advance(DAY.plusMinutes(1));

        assertThat(retention().purgeKeys(DAY, 10)).isEqualTo(1);

        assertThat(enqueue(postrider, message().idempotencyKey("dead").build()).isDuplicate())
                .isTrue();
        assertThat(enqueue(postrider, message().idempotencyKey("waiting").build())
                        .isDuplicate())
                .isTrue();
        assertThat(enqueue(postrider, message().idempotencyKey("delivered").build())
                        .isDuplicate())
                .as("its retention is over")
                .isFalse();
    }

    @Test
    void keysArePurgedInChunks() throws SQLException {
        Postrider postrider = postrider();
        for (int i = 0; i < 5; i++) {
            enqueue(postrider, message().idempotencyKey("k" + i).build());
        }
        claim(postrider).forEach(postrider.store()::acknowledge);
        advance(DAY.plusMinutes(1));

        assertThat(retention().purgeKeys(DAY, 3)).isEqualTo(3);
        assertThat(retention().purgeKeys(DAY, 3)).isEqualTo(2);
        assertThat(retention().purgeKeys(DAY, 3)).isZero();
    }

    @Test
    void receivedMessageIsForgottenByAgeInChunks() throws SQLException {
        Inbox inbox = postrider().inbox("billing");
        for (int i = 0; i < 5; i++) {
            inbox.process(received("old " + i), work -> {});
        }
        assertThat(retention().purgeInboxMarks(DAY, 3)).isZero();
        advance(DAY.plusMinutes(1));
        inbox.process(received("young"), work -> {});

        assertThat(retention().purgeInboxMarks(DAY, 3)).isEqualTo(3);
        assertThat(retention().purgeInboxMarks(DAY, 3)).isEqualTo(2);
        assertThat(retention().purgeInboxMarks(DAY, 3)).isZero();

        assertThat(inbox.process(received("young"), work -> {}).isDuplicate()).isTrue();
        assertThat(inbox.process(received("old 0"), work -> {}).isProcessed())
                .as("its retention is over")
                .isTrue();
        assertThat(retention().maintainInboxPartitions(Optional.of(DAY)))
                .as("there are no partitions")
                .isZero();
    }

    @Test
    void markLockedByAnotherSessionIsLeftForTheNextTime() throws SQLException {
        needsConcurrency();
        Inbox inbox = postrider().inbox("billing");
        inbox.process(received("held"), work -> {});
        inbox.process(received("free"), work -> {});
        advance(DAY.plusMinutes(1));
        try (Connection connection = transaction();
                Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT 1 FROM postrider_inbox_mark WHERE message_id = "
                    + uuid(connection, received("held").id()) + " FOR UPDATE");
            assertThat(retention().purgeInboxMarks(DAY, 10)).isEqualTo(1);
            connection.rollback();
        }
        assertThat(retention().purgeInboxMarks(DAY, 10)).isEqualTo(1);
    }

    private static String uuid(Connection connection, MessageId id) throws SQLException {
        return connection.getMetaData().getDatabaseProductName().equals("PostgreSQL")
                ? "'" + id + "'"
                : "X'" + id.toString().replace("-", "") + "'";
    }

    @Test
    void operatorsSeeHowMuchEachConsumerRemembers() throws SQLException {
        Postrider postrider = postrider();
        for (int i = 0; i < 3; i++) {
            postrider.inbox("shipping").process(received("m" + i), work -> {});
        }
        advance(DAY);
        postrider.inbox("billing").process(received("m0"), work -> {});

        List<InboxStatus> inboxes = postrider.admin().inboxes();

        assertThat(inboxes).extracting(InboxStatus::consumer).containsExactly("billing", "shipping");
        assertThat(inboxes).extracting(InboxStatus::marks).containsExactly(1L, 3L);
        assertThat(inboxes.get(1).oldest()).isBefore(inboxes.get(0).oldest().minus(DAY.minusMinutes(1)));
    }

    private static Message received(String id) {
        return Message.received("elsewhere", id).type("t").json("1").build();
    }

    @Test
    void archiveKeepsWhatItIsToldTo() throws SQLException {
        Postrider off = postrider(builder -> builder.topic(topic).tables(tables -> tables.archive(Archive.OFF)));
        deliver(off, 2);
        assertThat(archived()).isZero();

        Postrider bare =
                postrider(builder -> builder.topic(topic).tables(tables -> tables.archive(Archive.WITHOUT_PAYLOAD)));
        deliver(bare, 1);
        assertThat(query(
                        "SELECT CASE WHEN payload IS NULL THEN 'none' ELSE 'kept' END FROM postrider_archive WHERE topic = '"
                                + topic + "'"))
                .isEqualTo("none");
    }

    private void deliver(Postrider postrider, int count) throws SQLException {
        enqueue(postrider, count);
        for (Claim claim : claim(postrider)) {
            assertThat(postrider.store().acknowledge(claim).isLost()).isFalse();
        }
    }

    private RetentionStore retention() {
        return JdbcDatabase.open(dataSource(), TableOptions.defaults(), Duration.ofSeconds(60), event -> {})
                .retention();
    }
}
