package dev.postrider.jdbc;

import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.PostriderException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.ErrorText;
import dev.postrider.internal.store.RowClaim;
import dev.postrider.internal.store.RowStore;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Lease;
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

/** Claims messages and writes outcomes over JDBC. Thread-safe. */
final class JdbcMessageStore implements RowStore {

    private static final Logger log = LoggerFactory.getLogger(JdbcMessageStore.class);

    private static final int MOST_TENANT_SETS = 100;

    /** Expired leases are rare. A claim scans for them when no message is due, and at this interval under load or after wake-ups. */
    private static final long EXPIRED_EVERY_NANOS = Duration.ofMillis(500).toNanos();

    private static final int SWEEP_ERROR_LIMIT = 200;

    /** How long a message waits whose cipher is not available. */
    private static final Duration WITHOUT_CIPHER = Duration.ofSeconds(5);

    /** Keeps a statement below the parameter limits of the databases. */
    private static final int EXTENDED_AT_ONCE = 1000;

    private final Sessions sessions;
    private final ClaimStatements claimStatements;
    private final OutcomeStatements statements;
    private final Topics topics;
    private final StorageOptions options;
    private final PayloadOpener opener;
    private final EventListener events;
    private final LongSupplier nanos;
    private final Supplier<UUID> ids;
    private final Map<Integer, TopicScans> scans = new ConcurrentHashMap<>();
    private final InDoubtWrites unanswered = new InDoubtWrites();

    /** Where the scans of this process start for one topic. */
    private static final class TopicScans {

        /** By the tenants that claims are restricted to: a claim skips messages of other tenants, so its position is not valid for them. */
        final Map<Set<String>, ClaimScans> claims = new ConcurrentHashMap<>();

        final ScanWindow lost = new ScanWindow();
        final NextLeaseExpiry firstExpiry = new NextLeaseExpiry();

        /** A bounded number of tenant sets is remembered. The claims of further sets start at the beginning each time. */
        ClaimScans of(Set<String> tenants) {
            ClaimScans known = claims.get(tenants);
            if (known != null) {
                return known;
            }
            return claims.size() < MOST_TENANT_SETS
                    ? claims.computeIfAbsent(tenants, set -> new ClaimScans())
                    : new ClaimScans();
        }

        Instant startOfPeek(long now) {
            return claims.values().stream()
                    .map(scans -> scans.due.startOfPeek(now))
                    .min(Comparator.naturalOrder())
                    .orElseGet(() -> new DueScanStart().startOfPeek(now));
        }
    }

    private static final class ClaimScans {

        final DueScanStart due = new DueScanStart();
        final ScanWindow expired = new ScanWindow();
        volatile @Nullable Long lastExpiredScan;
    }

    JdbcMessageStore(
            Sessions sessions, Dialect dialect, Topics topics, JdbcDatabase.Settings settings, TimeAndIds platform) {
        this.sessions = sessions;
        this.claimStatements = dialect.claims();
        this.statements = dialect.outcomes();
        this.topics = topics;
        this.options = settings.options();
        this.opener = new PayloadOpener(options);
        this.events = settings.events();
        this.nanos = platform.nanos();
        this.ids = platform.ids();
    }

    /** A loop of the application gets only messages that it can deliver. */
    @Override
    public List<Claim> claim(ClaimRequest request) {
        List<Claim> claims = new ArrayList<>();
        List<Outcome.Buried> buried = new ArrayList<>();
        for (RowClaim row : claimRows(request)) {
            Claim claim = row.claim();
            String problem = row.unreadable();
            if (problem != null) {
                buried.add(new Outcome.Buried(claim, DeadReason.UNREADABLE, problem));
            } else if (claim.attempt() > request.maxAttempts()) {
                buried.add(new Outcome.Buried(
                        claim,
                        DeadReason.ATTEMPTS_EXHAUSTED,
                        "All of " + request.maxAttempts() + " attempts were made before this claim"));
            } else {
                claims.add(claim);
            }
        }
        bury(buried, request.maxAttempts());
        return claims;
    }

    @Override
    public List<RowClaim> claimRows(ClaimRequest request) {
        int topicId = unordered(request.topic());
        releaseUnanswered();
        if (!isExpiredScanDue(topicId, request)) {
            List<RowClaim> due = claimDue(topicId, request);
            return due.isEmpty() && !request.newOnly() ? claimExpired(topicId, request) : due;
        }
        List<RowClaim> claims = new ArrayList<>(claimExpired(topicId, request));
        long bytes = claims.stream()
                .mapToLong(row -> row.claim().message().payload().size())
                .sum();
        if (claims.size() < request.limit() && bytes < request.maxBytes()) {
            addDue(
                    claims,
                    topicId,
                    request.limit(request.limit() - claims.size()).maxBytes(request.maxBytes() - bytes));
        }
        return claims;
    }

    /** Earlier claims are returned even if this statement fails: only the caller can deliver or release them. */
    private void addDue(List<RowClaim> claims, int topicId, ClaimRequest request) {
        try {
            claims.addAll(claimDue(topicId, request));
        } catch (PostriderException e) {
            if (claims.isEmpty()) {
                throw e;
            }
            log.debug("Expired leases were claimed, but due messages were not", e);
        }
    }

    private boolean isExpiredScanDue(int topicId, ClaimRequest request) {
        Long last = scans(topicId).of(request.tenants()).lastExpiredScan;
        return last == null || nanos.getAsLong() - last >= EXPIRED_EVERY_NANOS;
    }

    private List<RowClaim> claimExpired(int topicId, ClaimRequest request) {
        ClaimScans scans = scans(topicId).of(request.tenants());
        ScanWindow.Scan scan = scans.expired.begin(nanos.getAsLong());
        scans.lastExpiredScan = scan.began();
        return lease(topicId, request, (connection, token) -> {
            List<ClaimedRow> rows = claimStatements.claimExpired(connection, topicId, request, token, scan.span());
            scans.expired.ended(scan, rows.isEmpty(), nanos.getAsLong());
            return rows;
        });
    }

    private List<RowClaim> claimDue(int topicId, ClaimRequest request) {
        DueScanStart start = scans(topicId).of(request.tenants()).due;
        DueScanStart.DueScan scan = start.begin(nanos.getAsLong());
        return lease(topicId, request, (connection, token) -> {
            ClaimStatements.DueClaim due = claimStatements.claimDue(connection, topicId, request, token, scan.from());
            start.ended(scan, due, due.rows().size() == request.limit(), nanos.getAsLong());
            return due.rows();
        });
    }

    private TopicScans scans(int topicId) {
        return scans.computeIfAbsent(topicId, id -> new TopicScans());
    }

    @FunctionalInterface
    private interface Claiming {
        List<ClaimedRow> with(Connection connection, UUID token) throws SQLException;
    }

    /** This node makes the token, so that it can release a claim even if the answer to the statement is lost. */
    private List<RowClaim> lease(int topicId, ClaimRequest request, Claiming claiming) {
        UUID token = ids.get();
        scans(topicId).firstExpiry.claimsFor(request.lease());
        List<ClaimedRow> rows;
        try {
            rows = run("claim messages", connection -> claiming.with(connection, token));
        } catch (StoreUnavailableException e) {
            unanswered.claim(topicId, token, request.lease(), nanos.getAsLong());
            throw e;
        }
        if (rows.size() > request.limit()) {
            throw new IllegalStateException("requested " + request.limit() + " messages and got " + rows.size()
                    + ": the statement did not apply the limit");
        }
        if (!rows.isEmpty()) {
            scans(topicId).firstExpiry.leased(request.lease(), nanos.getAsLong());
        }
        List<ClaimedRow> opened = opener.open(rows);
        postpone(token, opened);
        Lease lease = new Lease(token, request.worker(), request.lease());
        List<RowClaim> claims = new ArrayList<>(rows.size());
        for (ClaimedRow row : opened) {
            Message message = row.messageOrPlaceholder();
            if (message != null) {
                Claim claim = new Claim(row.seq(), message, row.attempts(), row.crashes(), lease);
                claims.add(new RowClaim(claim, row.problem()));
            }
        }
        if (claims.isEmpty()) {
            refuseWithoutCipher(request.topic(), opened);
        }
        return claims;
    }

    /** Returns messages whose cipher is not available: they are due again after a while, and the attempt does not count. */
    private void postpone(UUID token, List<ClaimedRow> rows) {
        List<OutcomeStatements.Postponed> postponed = rows.stream()
                .filter(ClaimedRow::isSealed)
                .map(row -> new OutcomeStatements.Postponed(
                        new LeasedRow(row.seq(), token),
                        WITHOUT_CIPHER,
                        ErrorText.clean(
                                String.valueOf(row.problem()), options.tables().errorLimit())))
                .toList();
        if (!postponed.isEmpty()) {
            change(
                    "postpone messages without their cipher",
                    postponed.size(),
                    connection -> statements.postpone(connection, postponed));
        }
    }

    /** Lets the caller pause: the next messages most likely need the same cipher. */
    private static void refuseWithoutCipher(TopicName topic, List<ClaimedRow> rows) {
        rows.stream().filter(ClaimedRow::isSealed).findFirst().ifPresent(row -> {
            throw new CipherUnavailableException(
                    "Messages of '" + topic + "' were not delivered, and wait: " + row.problem(), null);
        });
    }

    /** Buries messages that a claim does not return: unreadable rows, and messages beyond an attempt limit that was lowered since. */
    private void bury(List<Outcome.Buried> outcomes, int maxAttempts) {
        if (outcomes.isEmpty()) {
            return;
        }
        List<OutcomeStatements.BuriedRow> rows =
                outcomes.stream().map(this::undelivered).toList();
        Set<LeasedRow> buried = change(
                "bury messages that cannot be delivered", rows.size(), connection -> statements.bury(connection, rows));
        for (Outcome.Buried outcome : outcomes) {
            Claim claim = outcome.claim();
            if (buried.contains(OutcomeBatch.row(claim))) {
                String reason = outcome.reason().name();
                events.on(
                        new Event.Buried(claim.message(), claim.attempt(), maxAttempts, reason, outcome.error(), null));
            }
        }
    }

    private OutcomeStatements.BuriedRow undelivered(Outcome.Buried outcome) {
        Claim claim = outcome.claim();
        DeathRecord death = epitaph(outcome.reason(), outcome.error());
        return new OutcomeStatements.BuriedRow(
                OutcomeBatch.row(claim),
                death,
                AttemptHistory.undelivered(claim.attempt(), claim.lease().holder(), death));
    }

    /** Changes rows that this claim does not return. If it fails, their leases expire. */
    private Set<LeasedRow> change(String doing, int count, Sessions.Body<Set<LeasedRow>> body) {
        try {
            return run(doing, body);
        } catch (PostriderException e) {
            log.warn("Could not {} ({} rows); their leases will expire", doing, count, e);
            return Set.of();
        }
    }

    private void releaseUnanswered() {
        for (InDoubtWrites.LostClaim lost : unanswered.claims(nanos.getAsLong())) {
            int released = run(
                    "release a claim",
                    connection -> claimStatements.releaseClaim(connection, lost.topicId(), lost.token()));
            if (released > 0) {
                unanswered.givenBack(lost);
            } else {
                unanswered.notFound(lost, nanos.getAsLong());
            }
        }
    }

    @Override
    public List<Settlement> settle(List<? extends Outcome> outcomes) {
        checkOneForEachClaim(outcomes);
        return OutcomesByTopic.<Outcome>settle(outcomes, this::settleTwice, outcome -> {});
    }

    private List<Settlement> settleTwice(List<? extends Outcome> outcomes) {
        List<Settlement> settlements = settleOnce(outcomes);
        List<Outcome> locked = new ArrayList<>();
        for (int i = 0; i < settlements.size(); i++) {
            if (settlements.get(i).isLocked()) {
                locked.add(outcomes.get(i));
            }
        }
        return locked.isEmpty() ? settlements : settleAgain(settlements, locked);
    }

    /** Refuses two outcomes of one claim: one row would be written, and both outcomes would be reported as written. */
    private static void checkOneForEachClaim(List<? extends Outcome> outcomes) {
        Set<LeasedRow> rows = new HashSet<>();
        for (Outcome outcome : outcomes) {
            if (!rows.add(OutcomeBatch.row(outcome.claim()))) {
                throw new InvalidConfigurationException(
                        "outcomes", "contain two for " + outcome.claim() + ": a claim has one outcome");
            }
        }
    }

    /** Writes them again at once: most likely a scan for expired leases had locked the rows for a moment. */
    private List<Settlement> settleAgain(List<Settlement> settlements, List<Outcome> locked) {
        try {
            Iterator<Settlement> again = settleOnce(locked).iterator();
            return settlements.stream()
                    .map(settlement -> settlement.isLocked() ? again.next() : settlement)
                    .toList();
        } catch (PostriderException e) {
            log.debug("Outcomes of locked rows could not be written", e);
            return settlements;
        }
    }

    private List<Settlement> settleOnce(List<? extends Outcome> outcomes) {
        if (outcomes.isEmpty()) {
            return List.of();
        }
        OutcomeBatch batch = new OutcomeBatch(outcomes, statements, options, this::epitaph);
        try {
            write(batch);
            List<Settlement> settlements = settlements(outcomes, batch);
            unanswered.answered(answered(outcomes, settlements));
            return settlements;
        } catch (StoreUnavailableException e) {
            unanswered.outcomes(outcomes);
            throw e;
        } catch (TransactionConflictException e) {
            unanswered.outcomes(outcomes.stream()
                    .filter(outcome -> batch.wasWritten(outcome.claim()))
                    .toList()); // written, but the caller gets no settlement
            throw e;
        }
    }

    /**
     * Writes the steps. Where a step is one statement, it commits by itself. A process that freezes between two steps then
     * locks no row, and other nodes can claim its messages when their lease ends.
     */
    private void write(OutcomeBatch batch) {
        if (batch.steps().isEmpty()) {
            return;
        }
        if (sessions.kind().worksInSingleStatements()) {
            for (OutcomeBatch.OutcomeWrite step : batch.steps()) {
                batch.written(sessions.statement("write outcomes", step::write));
            }
            return;
        }
        batch.written(sessions.transaction("write outcomes", connection -> {
            Set<LeasedRow> answers = new HashSet<>();
            for (OutcomeBatch.OutcomeWrite step : batch.steps()) {
                answers.addAll(step.write(connection));
            }
            return answers;
        }));
    }

    /** Without the outcomes of locked rows: an earlier write of the same outcome may still run on the server and lock the row. */
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
        Set<LeasedRow> locked = stillLeased(outcomes.stream()
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
     * Whether an earlier write of this outcome, which got no answer, took effect. That is so if the claim no longer has the
     * lease. Exception: the outcome removes the message and the message still exists. Then the earlier write had no effect, and
     * another node has claimed the message.
     */
    private boolean wasWrittenBefore(Outcome outcome, boolean gone) {
        return unanswered.wasSent(outcome) && !(outcome instanceof Outcome.Lost) && (gone || !isRemoval(outcome));
    }

    private static boolean isRemoval(Outcome outcome) {
        return outcome instanceof Outcome.Delivered
                || (outcome instanceof Outcome.Expired expired && expired.removed());
    }

    @Override
    public List<Settlement> extend(List<Claim> claims, Duration lease) {
        ClaimRequest.checkLease(lease);
        List<LeasedRow> rows = claims.stream().map(OutcomeBatch::row).toList();
        Set<LeasedRow> extended = new HashSet<>();
        for (int start = 0; start < rows.size(); start += EXTENDED_AT_ONCE) {
            List<LeasedRow> some = rows.subList(start, Math.min(start + EXTENDED_AT_ONCE, rows.size()));
            extended.addAll(run("extend leases", connection -> statements.extend(connection, some, lease)));
        }
        Predicate<Claim> isExtended = claim -> extended.contains(OutcomeBatch.row(claim));
        List<Claim> others = claims.stream().filter(isExtended.negate()).toList();
        Set<LeasedRow> locked = stillLeased(others);
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

    private Set<LeasedRow> stillLeased(Collection<Claim> claims) {
        List<LeasedRow> rows = claims.stream().map(OutcomeBatch::row).toList();
        return rows.isEmpty()
                ? Set.of()
                : sessions.statement("find locked messages", connection -> statements.stillLeased(connection, rows));
    }

    private Map<Long, UUID> present(Collection<Claim> claims) {
        List<Long> seqs = claims.stream().map(Claim::seq).toList();
        return seqs.isEmpty()
                ? Map.of()
                : sessions.statement("find messages", connection -> statements.present(connection, seqs));
    }

    /** Compares ids, because after a failover a number can belong to another message. */
    private static boolean isGone(Claim claim, Map<Long, UUID> present) {
        return !claim.message().id().value().equals(present.get(claim.seq()));
    }

    @Override
    public int sweep(TopicName topic, int maxAttempts, int limit) {
        if (limit < 1) {
            throw new InvalidConfigurationException("limit", "must be at least 1, but is " + limit);
        }
        if (maxAttempts < 1) {
            throw new InvalidConfigurationException("max-attempts", "must be at least 1, but is " + maxAttempts);
        }
        int topicId = topicId(topic);
        DeathRecord epitaph = epitaph(
                DeadReason.WORKER_LOST,
                ErrorText.clean(
                        "The worker was lost during the last of " + maxAttempts + " attempts", SWEEP_ERROR_LIMIT));
        ScanWindow lost = scans(topicId).lost;
        ScanWindow.Scan scan = lost.begin(nanos.getAsLong());
        ClaimStatements.Sweep sweep = new ClaimStatements.Sweep(maxAttempts, epitaph, scan.span(), limit);
        int buried = run("sweep lost messages", connection -> claimStatements.sweep(connection, topicId, sweep));
        lost.ended(scan, buried < limit, nanos.getAsLong());
        return buried;
    }

    @Override
    public Map<TopicName, Duration> nextDue(Collection<TopicName> names) {
        if (names.isEmpty()) {
            return Map.of();
        }
        releaseUnanswered(); // otherwise their messages become due only when the leases end
        long now = nanos.getAsLong();
        Map<Integer, TopicName> byId = new HashMap<>();
        Map<Integer, ScanWindow.Scan> leases = new HashMap<>();
        Map<Integer, ClaimStatements.Peek> peeks = new HashMap<>();
        for (TopicName name : names) {
            int id = topicId(name);
            byId.put(id, name);
            ScanWindow.Scan scan = scans(id).firstExpiry.begin(now);
            if (scan != null) {
                leases.put(id, scan);
            }
            peeks.put(id, new ClaimStatements.Peek(scans(id).startOfPeek(now), scan == null ? null : scan.span()));
        }
        Map<TopicName, Duration> due = new HashMap<>();
        sessions.statement("find due messages", connection -> claimStatements.nextDue(connection, peeks))
                .forEach((id, prospect) -> {
                    Duration next = earlier(prospect.pending(), firstExpiry(id, leases.get(id), prospect));
                    TopicName name = byId.get(id);
                    if (next != null && name != null) {
                        due.put(name, next.isNegative() ? Duration.ZERO : next);
                    }
                });
        return due;
    }

    /** @param scan null if the statement did not scan for leases */
    private @Nullable Duration firstExpiry(
            int topicId, ScanWindow.@Nullable Scan scan, ClaimStatements.Prospect prospect) {
        NextLeaseExpiry first = scans(topicId).firstExpiry;
        long now = nanos.getAsLong();
        if (scan != null) {
            first.ended(scan, prospect.leased(), now);
        }
        return first.left(now);
    }

    private static @Nullable Duration earlier(@Nullable Duration one, @Nullable Duration other) {
        return one == null || (other != null && other.compareTo(one) < 0) ? other : one;
    }

    private int topicId(TopicName name) {
        return topic(name).id();
    }

    /** Refuses an ordered topic: its messages belong to the owner of their lane. */
    private int unordered(TopicName name) {
        Topics.RegisteredTopic topic = topic(name);
        if (topic.lanes() > 0) {
            throw new InvalidConfigurationException(
                    "topic",
                    "'" + name + "' is ordered: its messages cannot be claimed one by one, a dispatcher delivers them");
        }
        return topic.id();
    }

    private Topics.RegisteredTopic topic(TopicName name) {
        return topics.known(name)
                .orElseGet(() -> sessions.statement("look up a topic", connection -> topics.require(connection, name)));
    }

    private DeathRecord epitaph(DeadReason reason, String error) {
        String cleaned = ErrorText.clean(error, options.tables().errorLimit());
        return new DeathRecord(reason.name(), cleaned, ErrorText.fingerprint(reason.name(), cleaned));
    }

    private <T> T run(String doing, Sessions.Body<T> body) {
        return sessions.change(doing, body);
    }
}
