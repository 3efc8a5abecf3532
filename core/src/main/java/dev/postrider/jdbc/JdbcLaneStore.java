package dev.postrider.jdbc;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.event.EventListener;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Lease;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lanes over JDBC: acquires, renews and releases them. A {@link LaneReader} reads their messages, a {@link LaneWriter} writes outcomes. */
final class JdbcLaneStore implements LaneStore {

    private static final Logger log = LoggerFactory.getLogger(JdbcLaneStore.class);

    /** Far longer than a server continues a statement whose client is gone. */
    private static final long RELEASE_FOR_NANOS = Duration.ofMinutes(10).toNanos();

    private final LaneTable table;
    private final LaneCursors cursors;
    private final LaneReader reader;
    private final LaneWriter writer;
    private final LongSupplier nanos;
    private final Supplier<UUID> ids;

    /** The tokens of lanes for which an acquisition or a release got no answer, or whose row was locked then, and since when. */
    private final Map<UUID, Long> unansweredTokens = new ConcurrentHashMap<>();

    /** The tokens of lanes that another session had locked for so long that the last renewal did not wait for the end. */
    private final Set<UUID> waitedInVain = ConcurrentHashMap.newKeySet();

    JdbcLaneStore(LaneTable table, StorageOptions options, EventListener events, TimeAndIds platform) {
        this.table = table;
        this.cursors = new LaneCursors(table);
        this.reader = new LaneReader(table, cursors, options, events, platform.nanos());
        this.writer = new LaneWriter(table, cursors, options, platform.nanos());
        this.nanos = platform.nanos();
        this.ids = platform.ids();
    }

    // Nodes

    @Override
    public Map<TopicName, Integer> announce(Node node, Duration lease) {
        releaseUnanswered(false);
        Map<Integer, TopicName> byId = new HashMap<>();
        node.topics().forEach(name -> byId.put(table.topic(name).id(), name));
        Map<Integer, Integer> alive = table.transaction(
                "announce the node", connection -> table.sql.nodes().announce(connection, node, byId.keySet(), lease));
        Map<TopicName, Integer> counts = new HashMap<>();
        byId.forEach((id, name) -> counts.put(name, Math.max(1, alive.getOrDefault(id, 1))));
        return counts;
    }

    @Override
    public Instant databaseTime() {
        return table.statement("read the clock of the database", table.sql.nodes()::now);
    }

    @Override
    public void leave(Node node) {
        try {
            releaseUnanswered(true);
        } catch (TransactionConflictException e) {
            log.warn("A lane was not released, because another session has locked its row; its lease will expire", e);
        }
        table.statement("remove the node", connection -> table.sql.nodes().leave(connection, node));
    }

    // Ownership

    /** The messages of a lost owner are read by statements that begin after this node has acquired the lane. */
    @Override
    public List<Lane> acquire(Lane.Request request) {
        releaseUnanswered(false);
        int topicId = table.topicId(request.topic());
        List<LaneStatements.AcquiredLane> taken = acquireRows(topicId, request);
        try {
            return taken.isEmpty() ? List.of() : prepare(topicId, request, taken);
        } catch (RuntimeException e) {
            unanswered(taken.stream().map(LaneStatements.AcquiredLane::token).toList());
            throw e;
        }
    }

    private List<Lane> prepare(int topicId, Lane.Request request, List<LaneStatements.AcquiredLane> taken) {
        List<LaneStatements.AcquiredLane> crashed =
                taken.stream().filter(LaneStatements.AcquiredLane::crashed).toList();
        if (!crashed.isEmpty()) {
            table.run("count crashes of messages", connection -> {
                table.sql.lanes().suspect(connection, topicId, crashed);
                return true;
            });
        }
        List<Integer> numbers =
                taken.stream().map(LaneStatements.AcquiredLane::lane).toList();
        List<KeyHeads.WaitingKey> waiting = table.statement(
                "find blocked keys", connection -> table.sql.heads().waitingKeys(connection, topicId, numbers));
        Map<Integer, Set<OrderingKey>> blocked = waiting.stream()
                .collect(groupingBy(KeyHeads.WaitingKey::lane, mapping(KeyHeads.WaitingKey::key, toSet())));
        LaneTable.Unpromoted unpromoted = table.promoteHeads(
                topicId,
                waiting.stream()
                        .filter(KeyHeads.WaitingKey::headless)
                        .map(KeyHeads.WaitingKey::lane)
                        .collect(toSet()));
        List<Lane> lanes = new ArrayList<>();
        for (LaneStatements.AcquiredLane lane : taken) {
            if (unpromoted.lockedLanes().contains(lane.lane())) {
                unanswered(List.of(lane.token())); // its keys without a head would wait for the next full scan
                continue;
            }
            long now = nanos.getAsLong();
            LaneCursor cursor = new LaneCursor(topicId, lane.lane(), lane.token(), lane.revision(), now);
            unpromoted
                    .lockedHeads()
                    .getOrDefault(lane.lane(), Set.of())
                    .forEach(head -> cursor.headIsLocked(head, now));
            cursors.put(cursor);
            lanes.add(new Lane(
                    request.topic(),
                    lane.lane(),
                    new Lease(lane.token(), request.worker(), request.lease()),
                    blocked.getOrDefault(lane.lane(), Set.of())));
        }
        return lanes;
    }

    /** This node makes the tokens, so that it can release the lanes even if the answer to the statement is lost. */
    private List<LaneStatements.AcquiredLane> acquireRows(int topicId, Lane.Request request) {
        List<UUID> tokens = Stream.generate(ids).limit(request.most()).toList();
        try {
            return table.run(
                    "acquire lanes",
                    connection -> table.sql.lanes().acquire(connection, topicId, request, tokens, Lane.MOST_IN_FLIGHT));
        } catch (StoreUnavailableException e) {
            unanswered(tokens);
            throw e;
        }
    }

    private void unanswered(Collection<UUID> tokens) {
        long now = nanos.getAsLong();
        tokens.forEach(token -> unansweredTokens.put(token, now));
    }

    /**
     * Releases the lanes of statements without an answer, and lanes that could not be released. Such a statement may still run on the
     * server and acquire its lanes after this release. So the release is repeated until the statement has certainly ended.
     */
    private void releaseUnanswered(boolean wait) {
        if (!unansweredTokens.isEmpty()) {
            Map<UUID, Long> tokens = Map.copyOf(unansweredTokens);
            table.run("release lanes without an answer", connection -> {
                table.sql.lanes().releaseTokens(connection, tokens.keySet(), wait);
                return true;
            });
            long now = nanos.getAsLong();
            tokens.forEach((token, since) -> {
                if (now - since >= RELEASE_FOR_NANOS) {
                    unansweredTokens.remove(token, since);
                }
            });
        }
    }

    @Override
    public Lane.Renewal renew(Collection<Lane> lanes, Duration lease) {
        LaneStatements.Floors floors = floors(lanes);
        if (floors.byLane().isEmpty()) {
            return new Lane.Renewal(Set.of(), Set.copyOf(lanes));
        }
        Horizon.Seen seen = cursors.horizon.lastSeen();
        LaneStatements.Renewed renewed = renew(floors, lease, false);
        cursors.horizon.wrote(seen, renewed.transaction());
        if (!renewed.locked().isEmpty() && table.sql.lanes().renewalMeetsOutcomes()) {
            renewed = renewLocked(floors, lease, renewed);
        }
        Set<Lane> kept = new HashSet<>();
        Set<Lane> lost = new HashSet<>();
        for (Lane lane : lanes) {
            UUID token = lane.lease().token();
            LaneCursor cursor = cursors.get(token);
            Long floor = renewed.floors().get(token);
            if (cursor != null && floor != null) {
                cursor.stored(floor);
                kept.add(lane);
            } else if (cursor == null || !renewed.locked().contains(token)) {
                cursors.remove(token);
                lost.add(lane);
            }
        }
        return new Lane.Renewal(kept, lost);
    }

    private LaneStatements.Renewed renew(LaneStatements.Floors floors, Duration lease, boolean wait) {
        return table.run(
                "renew lanes",
                connection -> table.sql.lanes().renew(connection, floors, lease, Lane.MOST_IN_FLIGHT, wait));
    }

    /**
     * Renews locked lanes and waits for their locks. In a busy lane some outcome is being written at almost every moment, so a renewal that
     * skips locked rows would rarely succeed. Each lane is renewed by itself, so that a failure of one lane does not affect the
     * others. After a sixth of the lease no further lane is tried.
     */
    private LaneStatements.Renewed renewLocked(
            LaneStatements.Floors floors, Duration lease, LaneStatements.Renewed first) {
        Map<UUID, Long> stored = new HashMap<>(first.floors());
        Set<UUID> locked = new HashSet<>(first.locked());
        long began = nanos.getAsLong();
        for (Map.Entry<LaneCursor, Long> lane : waitedForLast(floors)) {
            UUID token = lane.getKey().token;
            boolean late = nanos.getAsLong() - began > lease.dividedBy(6).toNanos();
            if (first.locked().contains(token) && !late) {
                LaneStatements.Floors alone =
                        new LaneStatements.Floors(floors.server(), Map.of(lane.getKey(), lane.getValue()));
                try {
                    LaneStatements.Renewed again = renew(alone, lease, true);
                    stored.putAll(again.floors());
                    locked.remove(token);
                    waitedInVain.remove(token);
                } catch (TransactionConflictException e) {
                    waitedInVain.add(token);
                    log.debug("A lane was not renewed yet: another session has locked its row", e);
                }
            }
        }
        waitedInVain.retainAll(locked);
        return new LaneStatements.Renewed(stored, locked, first.transaction());
    }

    /** Returns the lanes, last those for which the last renewal waited in vain: otherwise such a lane uses up the time of the others. */
    private List<Map.Entry<LaneCursor, Long>> waitedForLast(LaneStatements.Floors floors) {
        return floors.byLane().entrySet().stream()
                .sorted(Comparator.comparing(lane -> waitedInVain.contains(lane.getKey().token)))
                .toList();
    }

    @Override
    public void release(Collection<Lane> lanes) {
        LaneStatements.Floors floors = floors(lanes);
        lanes.forEach(lane -> cursors.remove(lane.lease().token()));
        if (floors.byLane().isEmpty()) {
            return;
        }
        Set<UUID> left = new HashSet<>();
        floors.byLane().keySet().forEach(cursor -> left.add(cursor.token));
        try {
            left.removeAll(
                    table.run("release lanes", connection -> table.sql.lanes().release(connection, floors)));
        } finally {
            unanswered(left);
        }
    }

    /** Reads the server before the floors: after a change of the server the cursors restart before the horizon gets the new server. */
    private LaneStatements.Floors floors(Collection<Lane> lanes) {
        String server = cursors.horizon.server();
        Map<LaneCursor, Long> floors = new HashMap<>();
        cursors.of(lanes).forEach(cursor -> floors.put(cursor, cursor.floor()));
        return new LaneStatements.Floors(server, floors);
    }

    @Override
    public boolean startIsolated(Claim claim) {
        return setIsolated(claim, claim.seq()) == LaneStatements.Noted.DONE;
    }

    @Override
    public boolean endIsolated(Claim claim) {
        return setIsolated(claim, null) != LaneStatements.Noted.LOCKED;
    }

    private LaneStatements.Noted setIsolated(Claim claim, @Nullable Long seq) {
        LaneCursor cursor = cursors.get(claim.lease().token());
        return cursor == null
                ? LaneStatements.Noted.LOST
                : table.run(
                        "note an isolated delivery",
                        connection -> table.sql.lanes().setIsolated(connection, cursor, seq));
    }

    // Messages

    @Override
    public List<LaneClaim> read(TopicName topic, Map<Lane, Integer> room, long maxBytes) {
        return reader.read(topic, room, maxBytes);
    }

    @Override
    public List<LaneClaim> readTimed(TopicName topic, Collection<Lane> lanes, int limit, long maxBytes) {
        return reader.readTimed(topic, lanes, limit, maxBytes);
    }

    @Override
    public int reconcile(Map<Lane, Set<Long>> inFlight) {
        return reader.reconcile(inFlight);
    }

    @Override
    public Map<TopicName, Duration> nextDue(Collection<Lane> lanes) {
        return reader.nextDue(lanes);
    }

    @Override
    public boolean isPaused(TopicName topic) {
        return reader.isPaused(topic);
    }

    @Override
    public List<Settlement> settle(List<? extends LaneOutcome> outcomes) {
        return writer.settle(outcomes);
    }
}
