package dev.postrider.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The receiver and the courier that the workers have, without a database. */
final class ReceiverTest {

    @TempDir
    private Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final Tally tally = new Tally(10);

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    @Test
    void whatComesInIsWrittenDownAndAnswered() throws Exception {
        Receiver receiver = receiver();
        Message message = message(Business.PLAIN);

        assertThat(deliver(receiver, message)).isEqualTo(DeliveryResult.delivered());

        List<JournalLine> journal = journal("receiver");
        assertThat(journal).extracting(JournalLine::event).containsExactly("received", "answered");
        assertThat(journal.get(0).value("id")).isEqualTo(message.id().toString());
        assertThat(journal.get(0).value("hash")).isEqualTo(Digest.of(message));
        assertThat(journal.get(0).value("number")).isEqualTo("5");
        assertThat(journal.get(1).value("result")).isEqualTo("ok");
        assertThat(journal("worker-1")).extracting(JournalLine::event).containsExactly("sending");
        assertThat(tally.delivered()).isEqualTo(1);
        assertThat(tally.duplicates()).isZero();
    }

    @Test
    void secondDeliveryOfAMessageIsADuplicate() throws Exception {
        Receiver receiver = receiver();
        Message message = message(Business.PLAIN);
        deliver(receiver, message);

        deliver(receiver, message);

        assertThat(tally.delivered()).isEqualTo(1);
        assertThat(tally.duplicates()).isEqualTo(1);
    }

    @Test
    void poisonIsRejected() throws Exception {
        assertThat(deliver(receiver(), message(Business.POISON))).isEqualTo(DeliveryResult.rejected("poison"));
        assertThat(tally.delivered()).isZero();
    }

    @Test
    void deliveryFailsWhileTheReceiverIsDown() throws Exception {
        Receiver receiver = receiver();
        receiver.down();
        assertThat(deliver(receiver, message(Business.PLAIN))).isInstanceOf(DeliveryResult.Failed.class);

        receiver.up();

        assertThat(deliver(receiver, message(Business.PLAIN))).isEqualTo(DeliveryResult.delivered());
    }

    @Test
    void courierWritesDownThatItHeardNoAnswerInTime() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(deliver(silent.getLocalPort(), message(Business.PLAIN)))
                    .isInstanceOf(DeliveryResult.Failed.class);
        }

        List<JournalLine> journal = journal("worker-1");
        assertThat(journal).extracting(JournalLine::event).containsExactly("sending", "unheard");
        assertThat(journal.get(1).value("worker")).isEqualTo("worker-1");
        assertThat(journal.get(1).value("attempt")).isEqualTo("1");
        assertThat(journal.get(1).value("id")).isEqualTo(journal.get(0).value("id"));
    }

    private Receiver receiver() {
        Journal journal = Journal.at(directory.resolve("receiver.journal"));
        Feed feed = new Feed(1);
        Receiver receiver = new Receiver(journal, feed, tally, true, 1);
        opened.addAll(List.of(receiver, feed, journal));
        return receiver;
    }

    private DeliveryResult deliver(Receiver receiver, Message message) throws InterruptedException, ExecutionException {
        return deliver(receiver.port(), message);
    }

    private DeliveryResult deliver(int port, Message message) throws InterruptedException, ExecutionException {
        try (Journal journal = Journal.at(directory.resolve("worker-1.journal"))) {
            return new Courier("worker-1", port, Pace.HURRIED, journal)
                    .deliver(new Delivery(message, 1))
                    .toCompletableFuture()
                    .get();
        }
    }

    private List<JournalLine> journal(String name) {
        List<JournalLine> lines = new ArrayList<>();
        try (JournalReader reader = new JournalReader(directory.resolve(name + ".journal"))) {
            reader.more(line -> lines.add(JournalLine.parse(line)));
        }
        return lines;
    }

    private static Message message(String type) {
        return Message.to(Business.LEDGER)
                .type(type)
                .tenant("t1")
                .key("l1")
                .header(Business.NUMBER_HEADER, "5")
                .text("hello")
                .build();
    }
}
