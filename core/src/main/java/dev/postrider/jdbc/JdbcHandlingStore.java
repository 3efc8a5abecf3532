package dev.postrider.jdbc;

import dev.postrider.internal.store.HandlingStore;
import dev.postrider.internal.store.InboxHandler;
import dev.postrider.jdbc.inbox.FanOut;
import dev.postrider.jdbc.outbox.JdbcUnitOfWork;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** Runs handlers in transactions over JDBC. Thread-safe. */
final class JdbcHandlingStore implements HandlingStore {

    /**
     * How long the statement waits for a transaction that removes the rows. The server ends the wait, so that no session stays
     * blocked there. The caller then asks again.
     */
    private static final Duration LOCK_WAIT = Duration.ofSeconds(1);

    private final HandlingTransaction.Means means;
    private final FanOut fanOut;

    /** The topics whose handlers have run a statement that could end their transaction. Bounded by the topics of the process. */
    private final Set<TopicName> removedLast = ConcurrentHashMap.newKeySet();

    JdbcHandlingStore(HandlingTransaction.Means means, FanOut fanOut) {
        this.means = means;
        this.fanOut = fanOut;
    }

    @Override
    public Transaction transaction(List<Item> items, Terms terms) {
        return new HandlingTransaction(means, removedLast, items, terms);
    }

    @Override
    public Set<Claim> gone(Collection<Claim> claims) {
        List<Long> seqs = claims.stream().map(Claim::seq).toList();
        Map<Long, UUID> present = means.sessions()
                .transaction(
                        "find handled messages",
                        connection -> means.session()
                                .waitingAtMost(
                                        connection,
                                        LOCK_WAIT,
                                        waiting -> means.statements().presentAfterLocks(waiting, seqs)));
        Set<Claim> gone = new HashSet<>();
        for (Claim claim : claims) {
            if (!claim.message().id().value().equals(present.get(claim.seq()))) {
                gone.add(claim);
            }
        }
        return gone;
    }

    @Override
    public Handler intoInbox(String consumer) {
        InboxHandler.consumerTopic(consumer);
        return (claim, message, work) -> fanOut.receive(JdbcUnitOfWork.of(work), consumer, List.of(message));
    }

    @Override
    public Handler router(String consumer) {
        InboxHandler.consumerTopic(consumer);
        return (claim, message, work) -> fanOut.route(JdbcUnitOfWork.of(work), consumer, claim.message());
    }
}
