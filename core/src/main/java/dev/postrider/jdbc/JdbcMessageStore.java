package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.PostriderException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.internal.ErrorText;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Lease;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims and outcomes over JDBC. */
final class JdbcMessageStore implements MessageStore {

    private static final Logger log = LoggerFactory.getLogger(JdbcMessageStore.class);

    private static final int MOST_TENANT_SETS = 100;

    /** Expired leases are rare: looked for when the queue is empty, and this often while it is not or somebody rings. */
    private static final long EXPIRED_EVERY_NANOS = Duration.ofMillis(500).toNanos();

    private static final int SWEEP_ERROR_LIMIT = 200;

    /** Keeps a statement below the databases' limits on parameters. */
    private static final int EXTENDED_AT_ONCE = 1000;

    private final Sessions sessions;
    private final Dialect dialect;
    private final Topics topics;
    private final JdbcOptions options;
    private final LongSupplier nanos;
    private final Supplier<UUID> ids;
    private final Map<Integer, Looks> looks = new ConcurrentHashMap<>();
    private final Unanswered unanswered = new Unanswered();

    /** Where this process looks for messages of one topic. */
    private static final class Looks {

        /** By the tenants that claims are restricted to: what a claim passed over is not behind the claims for other tenants. */
        final Map<Set<String>, ClaimLooks> claims = new ConcurrentHashMap<>();

        final Lookback lost = new Lookback();
        final FirstExpiry firstExpiry = new FirstExpiry();

        /** Beyond a number of sets, which nobody has a reason for, claims begin at the beginning. */
        ClaimLooks of(Set<String> tenants) {
            ClaimLooks known = claims.get(tenants);
            if (known != null) {
                return known;
            }
            return claims.size() < MOST_TENANT_SETS
                    ? claims.computeIfAbsent(tenants, set -> new ClaimLooks())
                    : new ClaimLooks();
        }

        Instant startOfPeek(long now) {
            return claims.values().stream()
                    .map(looks -> looks.due.startOfPeek(now))
                    .min(Comparator.naturalOrder())
                    .orElseGet(() -> new Frontier().startOfPeek(now));
        }
    }

    private static final class ClaimLooks {

        final Frontier due = new Frontier();
        final Lookback expired = new Lookback();
        volatile @Nullable Long lookedForExpired;
    }

    /**
     * @param nanos the monotonic clock
     * @param ids each one that nobody else has
     */
    JdbcMessageStore(
            Sessions sessions,
            Dialect dialect,
            Topics topics,
            JdbcOptions options,
            LongSupplier nanos,
            Supplier<UUID> ids) {
        this.sessions = sessions;
        this.dialect = dialect;
        this.topics = topics;
        this.options = options;
        this.nanos = nanos;
        this.ids = ids;
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        int topicId = unordered(request.topic());
        giveBackUnanswered();
        if (!timeToLookForExpired(topicId, request)) {
            List<Claim> due = claimDue(topicId, request);
            return due.isEmpty() && !request.newOnly() ? claimExpired(topicId, request) : due;
        }
        List<Claim> claims = new ArrayList<>(claimExpired(topicId, request));
        long bytes = claims.stream()
                .mapToLong(claim -> claim.message().payload().size())
                .sum();
        if (claims.size() < request.limit() && bytes < request.maxBytes()) {
            addDue(
                    claims,
                    topicId,
                    request.limit(request.limit() - claims.size()).maxBytes(request.maxBytes() - bytes));
        }
        return claims;
    }

    /** What is claimed already must be handed over, whatever happens to the second statement: nobody else can give it back. */
    private void addDue(List<Claim> claims, int topicId, ClaimRequest request) {
        try {
            claims.addAll(claimDue(topicId, request));
        } catch (PostriderException e) {
            if (claims.isEmpty()) {
                throw e;
            }
            log.debug("Expired leases were taken over, but not what was due", e);
        }
    }

    private boolean timeToLookForExpired(int topicId, ClaimRequest request) {
        Long last = looks(topicId).of(request.tenants()).lookedForExpired;
        return last == null || nanos.getAsLong() - last >= EXPIRED_EVERY_NANOS;
    }

    private List<Claim> claimExpired(int topicId, ClaimRequest request) {
        ClaimLooks looks = looks(topicId).of(request.tenants());
        Lookback.Look look = looks.expired.begin(nanos.getAsLong());
        looks.lookedForExpired = look.began();
        return lease(topicId, request, (connection, token) -> {
            List<ClaimedRow> rows = dialect.claimExpired(connection, topicId, request, token, look.span());
            looks.expired.ended(look, rows.isEmpty(), nanos.getAsLong());
            return rows;
        });
    }

    private List<Claim> claimDue(int topicId, ClaimRequest request) {
        Frontier frontier = looks(topicId).of(request.tenants()).due;
        Frontier.Look look = frontier.begin(nanos.getAsLong());
        return lease(topicId, request, (connection, token) -> {
            Dialect.Due due = dialect.claimDue(connection, topicId, request, token, look.from());
            frontier.ended(look, due, due.rows().size() == request.limit(), nanos.getAsLong());
            return due.rows();
        });
    }

    private Looks looks(int topicId) {
        return looks.computeIfAbsent(topicId, id -> new Looks());
    }

    @FunctionalInterface
    private interface Claiming {
        List<ClaimedRow> with(Connection connection, UUID token) throws SQLException;
    }

    /** The token is made here and not by the database, so that a claim whose answer is lost can still be named. */
    private List<Claim> lease(int topicId, ClaimRequest request, Claiming claiming) {
        UUID token = ids.get();
        List<ClaimedRow> rows;
        try {
            rows = run("claim messages", connection -> claiming.with(connection, token));
        } catch (StoreUnavailableException e) {
            unanswered.claim(topicId, token, request.lease(), nanos.getAsLong());
            throw e;
        }
        if (rows.size() > request.limit()) {
            throw new IllegalStateException("asked for " + request.limit() + " messages and got " + rows.size()
                    + ": the limit was not applied once");
        }
        if (!rows.isEmpty()) {
            looks(topicId).firstExpiry.leased(request.lease(), nanos.getAsLong());
        }
        buryUnreadable(token, rows);
        buryExhausted(token, rows, request.maxAttempts());
        Lease lease = new Lease(token, request.worker(), request.lease());
        List<Claim> claims = new ArrayList<>(rows.size());
        for (ClaimedRow row : rows) {
            Message message = row.message();
            if (message != null && row.attempts() <= request.maxAttempts()) {
                claims.add(new Claim(row.seq(), message, row.attempts(), row.crashes(), lease));
            }
        }
        return claims;
    }

    private void buryUnreadable(UUID token, List<ClaimedRow> rows) {
        List<Dialect.BuriedRow> unreadable = rows.stream()
                .filter(row -> row.message() == null)
                .map(row -> new Dialect.BuriedRow(
                        new Dialect.HeldRow(row.seq(), token),
                        epitaph(DeadReason.UNREADABLE, String.valueOf(row.problem()))))
                .toList();
        bury("bury unreadable rows", unreadable);
    }

    /** The limit was lowered since, or somebody rescheduled a message past it: no attempt beyond the limit is made. */
    private void buryExhausted(UUID token, List<ClaimedRow> rows, int maxAttempts) {
        Dialect.Epitaph epitaph = epitaph(
                DeadReason.ATTEMPTS_EXHAUSTED, "All of " + maxAttempts + " attempts were made before this claim");
        bury(
                "bury messages without attempts",
                rows.stream()
                        .filter(row -> row.message() != null && row.attempts() > maxAttempts)
                        .map(row -> new Dialect.BuriedRow(new Dialect.HeldRow(row.seq(), token), epitaph))
                        .toList());
    }

    private void bury(String doing, List<Dialect.BuriedRow> rows) {
        if (rows.isEmpty()) {
            return;
        }
        try {
            run(doing, connection -> dialect.bury(connection, rows));
        } catch (PostriderException e) {
            log.warn("Could not {} ({} rows); their lease will run out", doing, rows.size(), e);
        }
    }

    private void giveBackUnanswered() {
        for (Unanswered.LostClaim lost : unanswered.claims(nanos.getAsLong())) {
            int released = run(
                    "give back a claim", connection -> dialect.releaseClaim(connection, lost.topicId(), lost.token()));
            if (released > 0) {
                unanswered.givenBack(lost);
            } else {
                unanswered.notFound(lost, nanos.getAsLong());
            }
        }
    }

    @Override
    public List<Settlement> settle(List<? extends Outcome> outcomes) {
        List<Settlement> settlements = settleOnce(outcomes);
        List<Outcome> locked = new ArrayList<>();
        for (int i = 0; i < settlements.size(); i++) {
            if (settlements.get(i).isLocked()) {
                locked.add(outcomes.get(i));
            }
        }
        return locked.isEmpty() ? settlements : settleAgain(settlements, locked);
    }

    /** At once: most likely somebody who looked for expired leases had the row for a moment. */
    private List<Settlement> settleAgain(List<Settlement> settlements, List<Outcome> locked) {
        try {
            Iterator<Settlement> again = settleOnce(locked).iterator();
            return settlements.stream()
                    .map(settlement -> settlement.isLocked() ? again.next() : settlement)
                    .toList();
        } catch (PostriderException e) {
            log.debug("Outcomes whose rows were locked could not be written", e);
            return settlements;
        }
    }

    private List<Settlement> settleOnce(List<? extends Outcome> outcomes) {
        if (outcomes.isEmpty()) {
            return List.of();
        }
        OutcomeBatch batch = new OutcomeBatch(
                outcomes,
                dialect,
                options.archive(),
                this::epitaph,
                text -> ErrorText.clean(text, options.errorLimit()));
        try {
            write(batch);
            List<Settlement> settlements = settlements(outcomes, batch);
            unanswered.answered(answered(outcomes, settlements));
            return settlements;
        } catch (StoreUnavailableException e) {
            unanswered.outcomes(outcomes);
            throw e;
        }
    }

    /**
     * Where a step is one statement it commits by itself, so that a process that is frozen between two of them holds no row: its
     * messages can be taken over when their lease is over.
     */
    private void write(OutcomeBatch batch) {
        if (batch.steps().isEmpty()) {
            return;
        }
        if (dialect.worksInSingleStatements()) {
            for (OutcomeBatch.Step step : batch.steps()) {
                batch.written(sessions.statement("write outcomes", step::write));
            }
            return;
        }
        batch.written(sessions.transaction("write outcomes", connection -> {
            Set<Dialect.HeldRow> answers = new HashSet<>();
            for (OutcomeBatch.Step step : batch.steps()) {
                answers.addAll(step.write(connection));
            }
            return answers;
        }));
    }

    /** Of one whose row is locked nothing is known yet: perhaps it is locked by an earlier try that the server is still at. */
    private static List<Outcome> answered(List<? extends Outcome> outcomes, List<Settlement> settlements) {
        List<Outcome> answered = new ArrayList<>(outcomes.size());
        for (int i = 0; i < settlements.size(); i++) {
            if (!settlements.get(i).isLocked()) {
                answered.add(outcomes.get(i));
            }
        }
        return answered;
    }

    private List<Settlement> settlements(List<? extends Outcome> outcomes, OutcomeBatch batch) {
        List<Claim> unwritten = outcomes.stream()
                .filter(outcome -> !(outcome instanceof Outcome.Handled))
                .map(Outcome::claim)
                .filter(claim -> !batch.wasWritten(claim))
                .toList();
        Set<Dialect.HeldRow> locked = stillHeld(outcomes.stream()
                .filter(outcome -> !(outcome instanceof Outcome.Handled) && !(outcome instanceof Outcome.Lost))
                .map(Outcome::claim)
                .filter(claim -> !batch.wasWritten(claim))
                .toList());
        Map<Long, UUID> present = present(unwritten);
        List<Settlement> settlements = new ArrayList<>(outcomes.size());
        for (Outcome outcome : outcomes) {
            Claim claim = outcome.claim();
            if (!batch.wasWritten(claim) && locked.contains(OutcomeBatch.row(claim))) {
                settlements.add(new Settlement.Locked(claim));
                continue;
            }
            boolean gone = isGone(claim, present);
            settlements.add(
                    batch.wasWritten(claim) || outcome instanceof Outcome.Handled || wasWrittenBefore(outcome, gone)
                            ? new Settlement.Settled(claim)
                            : new Settlement.LeaseLost(claim, gone));
        }
        return settlements;
    }

    /**
     * Sent before with its answer lost, and now no longer ours: it was that first one that did it. Unless it was to remove the
     * message and the message is there: then the first one never arrived, and somebody else has taken over since.
     */
    private boolean wasWrittenBefore(Outcome outcome, boolean gone) {
        return unanswered.wasSent(outcome)
                && !(outcome instanceof Outcome.Lost)
                && (gone || !(outcome instanceof Outcome.Delivered));
    }

    @Override
    public List<Settlement> extend(List<Claim> claims, Duration lease) {
        List<Dialect.HeldRow> rows = claims.stream().map(OutcomeBatch::row).toList();
        Set<Dialect.HeldRow> extended = new HashSet<>();
        for (int start = 0; start < rows.size(); start += EXTENDED_AT_ONCE) {
            List<Dialect.HeldRow> some = rows.subList(start, Math.min(start + EXTENDED_AT_ONCE, rows.size()));
            extended.addAll(run("extend leases", connection -> dialect.extend(connection, some, lease)));
        }
        Predicate<Claim> isExtended = claim -> extended.contains(OutcomeBatch.row(claim));
        List<Claim> others = claims.stream().filter(isExtended.negate()).toList();
        Set<Dialect.HeldRow> locked = stillHeld(others);
        Map<Long, UUID> present = present(others);
        List<Settlement> settlements = new ArrayList<>(claims.size());
        for (Claim claim : claims) {
            if (isExtended.test(claim)) {
                settlements.add(new Settlement.Settled(claim));
            } else if (locked.contains(OutcomeBatch.row(claim))) {
                settlements.add(new Settlement.Locked(claim));
            } else {
                settlements.add(new Settlement.LeaseLost(claim, isGone(claim, present)));
            }
        }
        return settlements;
    }

    private Set<Dialect.HeldRow> stillHeld(Collection<Claim> claims) {
        List<Dialect.HeldRow> rows = claims.stream().map(OutcomeBatch::row).toList();
        return rows.isEmpty()
                ? Set.of()
                : sessions.statement("look for locked messages", connection -> dialect.stillHeld(connection, rows));
    }

    private Map<Long, UUID> present(Collection<Claim> claims) {
        List<Long> seqs = claims.stream().map(Claim::seq).toList();
        return seqs.isEmpty()
                ? Map.of()
                : sessions.statement("look for messages", connection -> dialect.present(connection, seqs));
    }

    /** After a failover a number can stand for another message. */
    private static boolean isGone(Claim claim, Map<Long, UUID> present) {
        return !claim.message().id().value().equals(present.get(claim.seq()));
    }

    @Override
    public int sweep(TopicName topic, int maxAttempts, int limit) {
        int topicId = topicId(topic);
        Dialect.Epitaph epitaph = epitaph(
                DeadReason.WORKER_LOST,
                ErrorText.clean(
                        "The worker was lost during the last of " + maxAttempts + " attempts", SWEEP_ERROR_LIMIT));
        Lookback lost = looks(topicId).lost;
        Lookback.Look look = lost.begin(nanos.getAsLong());
        int buried = run(
                "sweep lost messages",
                connection -> dialect.sweep(connection, topicId, maxAttempts, epitaph, look.span(), limit));
        lost.ended(look, buried < limit, nanos.getAsLong());
        return buried;
    }

    @Override
    public Map<TopicName, Duration> nextDue(Collection<TopicName> names) {
        if (names.isEmpty()) {
            return Map.of();
        }
        giveBackUnanswered(); // or they would not show as due before their lease ends
        long now = nanos.getAsLong();
        Map<Integer, TopicName> byId = new HashMap<>();
        Map<Integer, Lookback.Look> leases = new HashMap<>();
        Map<Integer, Dialect.Peek> peeks = new HashMap<>();
        for (TopicName name : names) {
            int id = topicId(name);
            byId.put(id, name);
            Lookback.Look look = looks(id).firstExpiry.begin(now);
            if (look != null) {
                leases.put(id, look);
            }
            peeks.put(id, new Dialect.Peek(looks(id).startOfPeek(now), look == null ? null : look.span()));
        }
        Map<TopicName, Duration> due = new HashMap<>();
        sessions.statement("look for due messages", connection -> dialect.nextDue(connection, peeks))
                .forEach((id, prospect) -> {
                    Duration next = earlier(prospect.pending(), firstExpiry(id, leases.get(id), prospect));
                    TopicName name = byId.get(id);
                    if (next != null && name != null) {
                        due.put(name, next.isNegative() ? Duration.ZERO : next);
                    }
                });
        return due;
    }

    /** @param look null when it was not asked for */
    private @Nullable Duration firstExpiry(int topicId, Lookback.@Nullable Look look, Dialect.Prospect prospect) {
        FirstExpiry first = looks(topicId).firstExpiry;
        long now = nanos.getAsLong();
        if (look != null) {
            first.ended(look, prospect.leased(), now);
        }
        return first.left(now);
    }

    private static @Nullable Duration earlier(@Nullable Duration one, @Nullable Duration other) {
        return one == null || (other != null && other.compareTo(one) < 0) ? other : one;
    }

    private int topicId(TopicName name) {
        return topic(name).id();
    }

    /** Rows of an ordered topic belong to whoever holds their lane. */
    private int unordered(TopicName name) {
        Topics.Topic topic = topic(name);
        if (topic.lanes() > 0) {
            throw new InvalidConfigurationException(
                    "topic",
                    "'" + name + "' is ordered: its messages are not claimed one by one, a dispatcher delivers them");
        }
        return topic.id();
    }

    private Topics.Topic topic(TopicName name) {
        return topics.known(name)
                .orElseGet(() -> sessions.statement("look up a topic", connection -> topics.require(connection, name)));
    }

    private Dialect.Epitaph epitaph(DeadReason reason, String error) {
        String cleaned = ErrorText.clean(error, options.errorLimit());
        return new Dialect.Epitaph(reason.name(), cleaned, ErrorText.fingerprint(reason.name(), cleaned));
    }

    private <T> T run(String doing, Sessions.Body<T> body) {
        return dialect.worksInSingleStatements() ? sessions.statement(doing, body) : sessions.transaction(doing, body);
    }
}
