package dev.postrider.jdbc.inbox;

import dev.postrider.inbox.Accepted;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.InboxWork;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.internal.trace.SafeSpan;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.message.Message;
import dev.postrider.trace.TracedEnd;
import dev.postrider.trace.TracedSpan;
import java.sql.Connection;
import java.util.Collection;

/** An inbox whose processing a tracer follows. Thread-safe. */
public final class TracedInbox implements Inbox {

    private final Inbox inbox;
    private final String consumer;
    private final SafeTracing tracing;

    public TracedInbox(Inbox inbox, String consumer, SafeTracing tracing) {
        this.inbox = inbox;
        this.consumer = consumer;
        this.tracing = tracing;
    }

    /** A call of the inbox. */
    private interface InboxCall<X extends Exception> {
        ProcessResult run() throws X;
    }

    @Override
    public <X extends Exception> ProcessResult process(Message received, InboxWork<X> work) throws X {
        return traced(received, () -> inbox.process(received, work));
    }

    @Override
    public <X extends Exception> ProcessResult process(Connection connection, Message received, InboxWork<X> work)
            throws X {
        return traced(received, () -> inbox.process(connection, received, work));
    }

    private <X extends Exception> ProcessResult traced(Message received, InboxCall<X> call) throws X {
        if (received == null) {
            return call.run(); // which refuses it
        }
        SafeSpan span = tracing.receive(received, consumer);
        TracedSpan.ActiveSpan active = span.enter();
        try {
            ProcessResult result = call.run();
            span.end(TracedEnd.of(result.fold(
                    processed -> "processed", before -> "duplicate", other -> "collision", old -> "too_old")));
            return result;
        } catch (Throwable e) {
            span.end(TracedEnd.failed(null, e));
            throw e;
        } finally {
            active.close();
        }
    }

    @Override
    public Accepted accept(Connection connection, Collection<Message> received) {
        return inbox.accept(connection, received);
    }

    @Override
    public Accepted receive(Collection<Message> received) {
        return inbox.receive(received);
    }
}
