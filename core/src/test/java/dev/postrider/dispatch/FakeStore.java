package dev.postrider.dispatch;

import dev.postrider.error.StoreException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.internal.store.RetentionStore;
import dev.postrider.internal.store.RowClaim;
import dev.postrider.internal.store.RowStore;
import dev.postrider.internal.store.SweptCommands;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.Lease;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/** A store in memory that records every call, and does what the test scripts; without a script everything succeeds. */
final class FakeStore implements RowStore, RetentionStore {

    final List<ClaimRequest> claims = new CopyOnWriteArrayList<>();
    final List<List<Outcome>> settles = new CopyOnWriteArrayList<>();
    final List<Outcome> written = new CopyOnWriteArrayList<>();
    final List<List<Claim>> extensions = new CopyOnWriteArrayList<>();
    final List<TopicName> sweeps = new CopyOnWriteArrayList<>();
    final List<String> purges = new CopyOnWriteArrayList<>();
    final List<Optional<Duration>> tended = new CopyOnWriteArrayList<>();
    final AtomicInteger rebuilds = new AtomicInteger();
    final AtomicInteger polls = new AtomicInteger();

    volatile Function<ClaimRequest, List<Claim>> onClaim = this::takeDue;
    volatile Function<List<Outcome>, List<Settlement>> onSettle = FakeStore::accept;
    volatile BiFunction<List<Claim>, Duration, List<Settlement>> onExtend = (claims, lease) -> settled(claims);
    volatile Function<Collection<TopicName>, Map<TopicName, Duration>> onNextDue = topics -> Map.of();
    volatile ToIntFunction<TopicName> onSweep = topic -> 0;
    volatile ToIntFunction<String> onPurge = kind -> 0;

    private final ConcurrentLinkedQueue<Claim> due = new ConcurrentLinkedQueue<>();
    private final AtomicLong seq = new AtomicLong();

    static StoreException refused() {
        return new StoreException("refused", new SQLException("refused", "22001"));
    }

    static StoreUnavailableException unavailable() {
        return new StoreUnavailableException("unavailable", new SQLException("gone", "08006"));
    }

    /** A claim of this topic that no node has claimed yet. */
    Claim next(String topic, int attempt) {
        Message message = Message.to(topic).type("thing").text("payload").build();
        Lease lease = new Lease(UUID.randomUUID(), "worker", Duration.ofSeconds(30));
        return new Claim(seq.incrementAndGet(), message, attempt, 0, lease);
    }

    List<Claim> next(String topic, int attempt, int count) {
        List<Claim> claims = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            claims.add(next(topic, attempt));
        }
        return claims;
    }

    /** Puts so many first attempts in the queue. */
    void enqueue(String topic, int count) {
        due.addAll(next(topic, 1, count));
    }

    private List<Claim> takeDue(ClaimRequest request) {
        List<Claim> taken = new ArrayList<>();
        Iterator<Claim> rows = due.iterator();
        while (rows.hasNext() && taken.size() < request.limit()) {
            Claim row = rows.next();
            if (row.message().topic().equals(request.topic())) {
                rows.remove();
                taken.add(row);
            }
        }
        return taken;
    }

    static List<Settlement> accept(List<Outcome> outcomes) {
        return settled(outcomes.stream().map(Outcome::claim).toList());
    }

    static List<Settlement> settled(List<Claim> claims) {
        return claims.stream().<Settlement>map(Settlement.Settled::new).toList();
    }

    @Override
    public List<RowClaim> claimRows(ClaimRequest request) {
        return claim(request).stream().map(claim -> new RowClaim(claim, null)).toList();
    }

    @Override
    public List<Claim> claim(ClaimRequest request) {
        claims.add(request);
        return onClaim.apply(request);
    }

    @Override
    public List<Settlement> settle(List<? extends Outcome> outcomes) {
        List<Outcome> batch = List.copyOf(outcomes);
        settles.add(batch);
        List<Settlement> answers = onSettle.apply(batch);
        written.addAll(batch);
        return answers;
    }

    @Override
    public List<Settlement> extend(List<Claim> claims, Duration lease) {
        extensions.add(List.copyOf(claims));
        return onExtend.apply(claims, lease);
    }

    @Override
    public int sweep(TopicName topic, int maxAttempts, int limit) {
        sweeps.add(topic);
        return onSweep.applyAsInt(topic);
    }

    @Override
    public Map<TopicName, Duration> nextDue(Collection<TopicName> topics) {
        polls.incrementAndGet();
        return onNextDue.apply(topics);
    }

    @Override
    public int purgeArchive(Duration age, int limit) {
        return purge("archive");
    }

    @Override
    public int purgeDead(Duration age, int limit) {
        return purge("dead");
    }

    @Override
    public int purgeKeys(Duration age, int limit) {
        return purge("keys");
    }

    @Override
    public int purgeInboxMarks(Duration age, int limit) {
        return purge("inbox marks");
    }

    @Override
    public int maintainInboxPartitions(Optional<Duration> age) {
        tended.add(age);
        return 0;
    }

    @Override
    public boolean rebuildIndexes() {
        rebuilds.incrementAndGet();
        return false;
    }

    @Override
    public SweptCommands sweepCommands(int limit) {
        int swept = onPurge.applyAsInt("commands");
        return new SweptCommands(0, swept, 0);
    }

    private int purge(String kind) {
        purges.add(kind);
        return onPurge.applyAsInt(kind);
    }
}
