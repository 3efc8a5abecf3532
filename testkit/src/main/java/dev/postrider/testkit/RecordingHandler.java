package dev.postrider.testkit;

import dev.postrider.inbox.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import java.time.Duration;
import java.util.List;

/**
 * A handler that records each message, for inboxes and for topics that are handled in the database. It then calls the handler set by
 * {@link #doing}, if any. A call stays recorded even if its transaction is rolled back. Thread-safe.
 */
public final class RecordingHandler implements MessageHandler {

    private final Recorded<Message> calls = new Recorded<>();
    private volatile MessageHandler work = (message, unit) -> {};

    /** From now on, passes each message to this handler after recording it. The handler may throw. */
    public RecordingHandler doing(MessageHandler work) {
        this.work = work;
        return this;
    }

    @Override
    public void handle(Message message, UnitOfWork unit) throws Exception {
        calls.add(message);
        work.handle(message, unit);
    }

    /** The message of every call, in the order of the calls. */
    public List<Message> messages() {
        return calls.all();
    }

    /**
     * Waits until there are at least {@code count} calls.
     *
     * @return the messages of all calls, in the order of the calls
     * @throws AssertionError if there are fewer calls after the time limit
     */
    public List<Message> await(int count, Duration limit) {
        return calls.await(count, limit, call -> true);
    }

    /** Removes all recorded calls. */
    public void clear() {
        calls.clear();
    }
}
