package dev.postrider.torture;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.message.Message;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;

/** Receives messages from the feed. Handles some at once in the transaction of their mark, and stores the others for workers. */
final class ConsumerProgram {

    private static final int THREADS = 3;

    private final Assignment assignment;
    private final Postrider postrider;
    private final Journal journal;

    private ConsumerProgram(Assignment assignment) {
        this.assignment = assignment;
        PostriderBuilder builder = Business.configured(assignment.pool(THREADS + 1), topic -> {});
        this.postrider = Parent.insist(builder::build);
        this.journal = assignment.journal("consumer");
    }

    public static void main(String[] arguments) throws IOException {
        ConsumerProgram program = new ConsumerProgram(Assignment.parse(arguments));
        for (int i = 0; i < THREADS; i++) {
            Parent.daemon("consumer-" + i, program::consumeAll);
        }
        Parent.tell("ready");
        Parent.obey(order -> {
            if (order[0].equals("stop")) {
                program.postrider.close();
                Parent.leave();
            }
        });
    }

    /** Reads messages from the feed and answers whether each is done. The feed delivers a message again if it is not done. */
    private void consumeAll() {
        try (Socket feed = new Socket(InetAddress.getLoopbackAddress(), assignment.port());
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(feed.getInputStream(), StandardCharsets.UTF_8))) {
            feed.setTcpNoDelay(true);
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                boolean done = consume(Feed.Item.parse(line));
                feed.getOutputStream().write((done ? "done\n" : "again\n").getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean consume(Feed.Item item) {
        Message message = Message.received(item.topic(), item.id())
                .type("received")
                .tenant(item.tenant())
                .key(item.key())
                .subject(item.id()) // stays the same in the inbox's topics, where messages have other ids
                .json("{}")
                .build();
        try {
            return item.durable() ? store(message) : handle(message);
        } catch (SQLException | RuntimeException e) {
            return false;
        }
    }

    private boolean handle(Message message) throws SQLException {
        ProcessResult result = postrider
                .inbox(Business.INLINE)
                .process(message, work -> Effects.book(work.connection(), Business.INLINE, message));
        if (result.isProcessed()) {
            journal.write(
                    "handled",
                    "consumer",
                    Effects.label(Business.INLINE, message),
                    "id",
                    message.id(),
                    "mode",
                    "inline");
        }
        return result.isDone();
    }

    private boolean store(Message message) {
        postrider.inbox(Business.DURABLE).receive(List.of(message));
        return true;
    }
}
