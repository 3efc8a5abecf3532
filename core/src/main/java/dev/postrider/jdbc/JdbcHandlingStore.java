package dev.postrider.jdbc;

import dev.postrider.store.Claim;
import dev.postrider.store.HandlingStore;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Handling over JDBC. */
final class JdbcHandlingStore implements HandlingStore {

    private final Sessions sessions;
    private final Dialect dialect;
    private final JdbcOutbox outboxes;
    private final JdbcOptions options;

    JdbcHandlingStore(Sessions sessions, Dialect dialect, JdbcOutbox outboxes, JdbcOptions options) {
        this.sessions = sessions;
        this.dialect = dialect;
        this.outboxes = outboxes;
        this.options = options;
    }

    @Override
    public Transaction transaction(List<Item> items, Terms terms) {
        return new HandlingTransaction(
                new HandlingTransaction.Means(sessions, dialect, outboxes, options), items, terms);
    }

    @Override
    public Set<Claim> gone(Collection<Claim> claims) {
        List<Long> seqs = claims.stream().map(Claim::seq).toList();
        Map<Long, UUID> present = sessions.transaction(
                "look for handled messages", connection -> dialect.presentInTheEnd(connection, seqs));
        Set<Claim> gone = new HashSet<>();
        for (Claim claim : claims) {
            if (!claim.message().id().value().equals(present.get(claim.seq()))) {
                gone.add(claim);
            }
        }
        return gone;
    }
}
