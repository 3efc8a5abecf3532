package dev.postrider.testkit;

import dev.postrider.inbox.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import java.time.Duration;
import java.util.List;

/**
 * A handler for inboxes and for topics that are handled in the database. It records each message that it is called with, and then
 * does what it was told, or nothing. A call is recorded even if its transaction is rolled back later. Thread-safe.
 */
public final class RecordingHandler implements MessageHandler {

    private final Recorded<Message> calls = new Recorded<>();
    private volatile MessageHandler work = (message, unit) -> {};

    /** From now on, each call is recorded and then passed to this handler, which may throw. */
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
     * Waits for so many calls.
     *
     * @return the messages of all calls, in the order of the calls
     * @throws AssertionError if there are fewer when the time is over
     */
    public List<Message> await(int count, Duration limit) {
        return calls.await(count, limit, call -> true);
    }

    /** Forgets all calls. */
    public void clear() {
        calls.clear();
    }
}
