package dev.postrider.dispatch;

import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Lease;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/** Lanes in memory that record every call, and do what the test scripts; without a script every request is granted. */
final class FakeLanes implements LaneStore {

    final Set<Lane> granted = ConcurrentHashMap.newKeySet();
    final List<Lane.Request> requests = new CopyOnWriteArrayList<>();
    final List<Lane> released = new CopyOnWriteArrayList<>();
    final List<LaneOutcome> written = new CopyOnWriteArrayList<>();
    final List<Set<Lane>> renewals = new CopyOnWriteArrayList<>();
    final List<Claim> alone = new CopyOnWriteArrayList<>();
    final List<Claim> aloneEnded = new CopyOnWriteArrayList<>();
    final List<Map<Lane, Set<Long>>> compared = new CopyOnWriteArrayList<>();
    final List<Node> announced = new CopyOnWriteArrayList<>();
    final List<Node> left = new CopyOnWriteArrayList<>();

    volatile int nodes = 1;
    volatile Instant time = Instant.EPOCH;
    volatile Runnable onAnnounce = () -> {};
    volatile Consumer<TopicName> onRead = topic -> {};
    volatile Set<Lane> lost = Set.of();

    /** Lanes whose rows another session has locked. */
    volatile Set<Lane> locked = Set.of();

    volatile boolean paused;
    volatile List<LaneClaim> next = List.of();
    volatile List<LaneClaim> timed = List.of();
    volatile Runnable onEndAlone = () -> {};
    volatile Predicate<Claim> onAlone = claim -> true;

    /** Claims whose lane another session has locked when their note is to be removed. */
    volatile Predicate<Claim> lockedNotes = claim -> false;

    volatile Function<LaneOutcome, Settlement> onSettle = outcome -> new Settlement.Settled(outcome.claim());

    @Override
    public Map<TopicName, Integer> announce(Node node, Duration lease) {
        onAnnounce.run();
        announced.add(node);
        Map<TopicName, Integer> alive = new HashMap<>();
        node.topics().forEach(topic -> alive.put(topic, nodes));
        return alive;
    }

    @Override
    public Instant databaseTime() {
        return time;
    }

    @Override
    public void leave(Node node) {
        left.add(node);
    }

    @Override
    public List<Lane> acquire(Lane.Request request) {
        requests.add(request);
        List<Lane> lanes = new ArrayList<>();
        for (int number = 0; lanes.size() < request.most() && number < 32; number++) {
            int wanted = number;
            if (granted.stream()
                    .noneMatch(lane -> lane.number() == wanted && lane.topic().equals(request.topic()))) {
                Lease lease = new Lease(UUID.randomUUID(), request.worker(), request.lease());
                lanes.add(new Lane(request.topic(), number, lease, Set.of()));
            }
        }
        granted.addAll(lanes);
        return lanes;
    }

    @Override
    public Lane.Renewal renew(Collection<Lane> lanes, Duration lease) {
        renewals.add(Set.copyOf(lanes));
        Set<Lane> kept = new HashSet<>(lanes);
        kept.removeAll(lost);
        Set<Lane> gone = new HashSet<>(lanes);
        gone.removeAll(kept);
        kept.removeAll(locked);
        return new Lane.Renewal(kept, gone);
    }

    @Override
    public void release(Collection<Lane> lanes) {
        granted.removeAll(lanes);
        released.addAll(lanes);
    }

    @Override
    public List<LaneClaim> read(TopicName topic, Map<Lane, Integer> room, long maxBytes) {
        onRead.accept(topic);
        List<LaneClaim> claims = next;
        next = List.of();
        return claims;
    }

    @Override
    public List<LaneClaim> readTimed(TopicName topic, Collection<Lane> lanes, int limit, long maxBytes) {
        List<LaneClaim> claims = timed;
        timed = List.of();
        return claims;
    }

    @Override
    public int reconcile(Map<Lane, Set<Long>> inFlight) {
        compared.add(inFlight);
        return 0;
    }

    @Override
    public Map<TopicName, Duration> nextDue(Collection<Lane> lanes) {
        return Map.of();
    }

    @Override
    public boolean isPaused(TopicName topic) {
        return paused;
    }

    @Override
    public List<Settlement> settle(List<? extends LaneOutcome> outcomes) {
        written.addAll(outcomes);
        return outcomes.stream().map(outcome -> onSettle.apply(outcome)).toList();
    }

    @Override
    public boolean startIsolated(Claim claim) {
        alone.add(claim);
        return onAlone.test(claim);
    }

    @Override
    public boolean endIsolated(Claim claim) {
        onEndAlone.run();
        boolean done = !lockedNotes.test(claim);
        if (done) {
            aloneEnded.add(claim);
        }
        return done;
    }
}
