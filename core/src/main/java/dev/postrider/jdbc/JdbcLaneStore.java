package dev.postrider.jdbc;

import dev.postrider.error.StoreException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.Lane;
import dev.postrider.store.LaneClaim;
import dev.postrider.store.LaneStore;
import dev.postrider.store.Lease;
import dev.postrider.store.OrderingKey;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Lanes over JDBC. Holds, for each lane taken through it, how far it was read and what of that has no outcome yet. */
final class JdbcLaneStore implements LaneStore {

    /** How often outcomes are written again because an operator changed the lane meanwhile. */
    private static final int OPERATOR_RACES = 10;

    private final Sessions sessions;
    private final Dialect dialect;
    private final LaneStatements statements;
    private final Topics topics;
    private final JdbcOptions options;
    private final EventListener events;
    private final LongSupplier nanos;
    private final Supplier<UUID> ids;
    private final Horizon horizon = new Horizon();
    private final WholeLooks wholeLooks = new WholeLooks();
    private final Unanswered unanswered = new Unanswered();
    private final Set<UUID> unansweredTokens = ConcurrentHashMap.newKeySet();
    private final Map<UUID, LaneCursor> cursors = new ConcurrentHashMap<>();

    /** Reads are one after another: what one look proves, an older look must not use. */
    private final Object reading = new Object();

    /**
     * @param nanos the monotonic clock
     * @param ids each one that nobody else has
     */
    JdbcLaneStore(
            Sessions sessions,
            Dialect dialect,
            Topics topics,
            JdbcOptions options,
            EventListener events,
            LongSupplier nanos,
            Supplier<UUID> ids) {
        this.sessions = sessions;
        this.dialect = dialect;
        this.statements = dialect.lanes();
        this.topics = topics;
        this.options = options;
        this.events = events;
        this.nanos = nanos;
        this.ids = ids;
    }

    // Nodes

    @Override
    public Map<TopicName, Integer> announce(Node node, Duration lease) {
        giveBackUnanswered();
        Map<Integer, TopicName> byId = new HashMap<>();
        node.topics().forEach(name -> byId.put(topicId(name), name));
        Map<Integer, Integer> alive = sessions.transaction(
                "announce the node", connection -> statements.announce(connection, node, byId.keySet(), lease));
        Map<TopicName, Integer> counts = new HashMap<>();
        byId.forEach((id, name) -> counts.put(name, Math.max(1, alive.getOrDefault(id, 1))));
        return counts;
    }

    @Override
    public void leave(Node node) {
        sessions.statement("take the node's leave", connection -> statements.leave(connection, node));
    }

    // Owning

    /** What the lost holder left is read by statements that begin after the lane is ours. */
    @Override
    public List<Lane> acquire(Lane.Request request) {
        giveBackUnanswered();
        int topicId = topicId(request.topic());
        List<LaneStatements.Taken> taken = take(topicId, request);
        try {
            return taken.isEmpty() ? List.of() : hold(topicId, request, taken);
        } catch (RuntimeException e) {
            taken.forEach(lane -> unansweredTokens.add(lane.token()));
            throw e;
        }
    }

    private List<Lane> hold(int topicId, Lane.Request request, List<LaneStatements.Taken> taken) {
        List<LaneStatements.Taken> crashed =
                taken.stream().filter(LaneStatements.Taken::crashed).toList();
        if (!crashed.isEmpty()) {
            run("suspect messages", connection -> {
                statements.suspect(connection, topicId, crashed);
                return true;
            });
        }
        List<Integer> numbers = taken.stream().map(LaneStatements.Taken::lane).toList();
        goOnWithoutHeads(topicId, numbers);
        Map<Integer, Set<OrderingKey>> held = sessions.statement(
                "look for held keys", connection -> statements.heldKeys(connection, topicId, numbers));
        List<Lane> lanes = new ArrayList<>();
        for (LaneStatements.Taken lane : taken) {
            cursors.put(
                    lane.token(),
                    new LaneCursor(
                            topicId, lane.lane(), lane.token(), lane.revision(), lane.floor(), nanos.getAsLong()));
            lanes.add(new Lane(
                    request.topic(),
                    lane.lane(),
                    new Lease(lane.token(), request.worker(), request.lease()),
                    held.getOrDefault(lane.lane(), Set.of())));
        }
        return lanes;
    }

    /**
     * A lost holder may have handled a message, and not have got to the next one of its key. Whoever took the lane after him and gave
     * it back may not have got there either, and nothing tells of that: so every lane is looked at.
     */
    private void goOnWithoutHeads(int topicId, Collection<Integer> lanes) {
        Set<Integer> headless = lanes.isEmpty()
                ? Set.of()
                : sessions.statement(
                        "look for keys without a head",
                        connection -> statements.lanesWithoutHeads(connection, topicId, lanes));
        for (int lane : headless) {
            sessions.transaction(
                    "go on with keys", connection -> statements.goOnWithoutHeads(connection, topicId, lane));
        }
    }

    /** The tokens are made here, so that lanes whose answer is lost can still be named and given back. */
    private List<LaneStatements.Taken> take(int topicId, Lane.Request request) {
        List<UUID> tokens = Stream.generate(ids).limit(request.most()).toList();
        try {
            return run(
                    "take lanes",
                    connection -> statements.acquire(connection, topicId, request, tokens, LaneCursor.MOST_IN_HAND));
        } catch (StoreUnavailableException e) {
            unansweredTokens.addAll(tokens);
            throw e;
        }
    }

    private void giveBackUnanswered() {
        if (!unansweredTokens.isEmpty()) {
            List<UUID> tokens = List.copyOf(unansweredTokens);
            run("give back lanes", connection -> {
                statements.releaseTokens(connection, tokens);
                return true;
            });
            tokens.forEach(unansweredTokens::remove);
        }
    }

    @Override
    public Set<Lane> renew(Collection<Lane> lanes, Duration lease) {
        LaneStatements.Floors floors = floors(lanes);
        if (floors.byLane().isEmpty()) {
            return Set.of();
        }
        Horizon.Seen seen = horizon.lastSeen();
        LaneStatements.Renewed renewed =
                run("renew lanes", connection -> statements.renew(connection, floors, lease, LaneCursor.MOST_IN_HAND));
        horizon.wrote(seen, renewed.transaction());
        Set<Lane> kept = new HashSet<>();
        for (Lane lane : lanes) {
            LaneCursor cursor = cursors.get(lane.lease().token());
            Long floor = renewed.floors().get(lane.lease().token());
            if (cursor == null || floor == null) {
                cursors.remove(lane.lease().token());
                continue;
            }
            cursor.stored(floor);
            kept.add(lane);
        }
        return kept;
    }

    @Override
    public void release(Collection<Lane> lanes) {
        LaneStatements.Floors floors = floors(lanes);
        lanes.forEach(lane -> cursors.remove(lane.lease().token()));
        if (floors.byLane().isEmpty()) {
            return;
        }
        try {
            run("release lanes", connection -> {
                statements.release(connection, floors);
                return true;
            });
        } catch (StoreUnavailableException e) {
            floors.byLane().keySet().forEach(cursor -> unansweredTokens.add(cursor.token));
            throw e;
        }
    }

    /** The server is asked for first: when it turns out to be another, the cursors start again before that is known. */
    private LaneStatements.Floors floors(Collection<Lane> lanes) {
        String server = horizon.server();
        Map<LaneCursor, Long> floors = new HashMap<>();
        cursors(lanes).forEach(cursor -> floors.put(cursor, cursor.floor()));
        return new LaneStatements.Floors(server, floors);
    }

    private List<LaneCursor> cursors(Collection<Lane> lanes) {
        return lanes.stream()
                .map(lane -> cursors.get(lane.lease().token()))
                .filter(Objects::nonNull)
                .toList();
    }

    @Override
    public boolean deliverAlone(Claim claim) {
        return setAlone(claim, claim.seq());
    }

    @Override
    public void endAlone(Claim claim) {
        setAlone(claim, null);
    }

    private boolean setAlone(Claim claim, @Nullable Long seq) {
        LaneCursor cursor = cursors.get(claim.lease().token());
        return cursor != null
                && run("note what is delivered alone", connection -> statements.setAlone(connection, cursor, seq));
    }

    // Reading

    @Override
    public List<LaneClaim> read(TopicName topic, Map<Lane, Integer> room, long maxBytes) {
        synchronized (reading) {
            int topicId = topicId(topic);
            Map<Integer, LaneCursor> byLane = byLane(room.keySet());
            Map<Integer, LaneCursor.Look> looks = new HashMap<>();
            List<Integer> whole = new ArrayList<>();
            List<Long> leaveOut = new ArrayList<>();
            long began = nanos.getAsLong();
            int mayBeWhole = wholeLooks.room(began);
            room.forEach((lane, count) -> {
                LaneCursor cursor = byLane.get(lane.number());
                if (cursor != null) {
                    LaneCursor.Look look = cursor.look(count, began, whole.size() < mayBeWhole);
                    looks.put(lane.number(), look);
                    leaveOut.addAll(cursor.readAlready(look));
                    if (look.whole()) {
                        whole.add(lane.number());
                    }
                }
            });
            if (looks.isEmpty()) {
                return List.of();
            }
            goOnWithoutHeads(topicId, whole);
            LaneStatements.Sighting sighting = sight(topicId, looks, leaveOut, maxBytes);
            wholeLooks.took(whole.size(), began, nanos.getAsLong());
            reportLate(topic, byLane, looks, sighting);
            List<LaneClaim> claims = take(room.keySet(), byLane, sighting.rows());
            if (!sighting.paused()) {
                advance(byLane, looks, sighting, maxBytes);
            }
            return claims;
        }
    }

    private LaneStatements.Sighting sight(
            int topicId, Map<Integer, LaneCursor.Look> looks, List<Long> leaveOut, long maxBytes) {
        LaneStatements.Sighting sighting;
        try {
            sighting = run(
                    "read lanes",
                    connection ->
                            statements.read(connection, topicId, List.copyOf(looks.values()), leaveOut, maxBytes));
        } catch (StoreUnavailableException e) {
            distrust();
            throw e;
        }
        if (horizon.isOfAnotherServer(sighting.sight())) {
            cursors.values().forEach(LaneCursor::restart);
        }
        horizon.see(sighting.sight());
        return sighting;
    }

    /** The database may have crashed, and a number that was given to a transaction that did not survive comes again. */
    private void distrust() {
        horizon.forget();
        cursors.values().forEach(LaneCursor::restart);
    }

    /** What appears below the start, where nothing should, was missed by every look so far: a fault worth knowing of. */
    private void reportLate(
            TopicName topic,
            Map<Integer, LaneCursor> byLane,
            Map<Integer, LaneCursor.Look> looks,
            LaneStatements.Sighting sighting) {
        if (looks.values().stream().noneMatch(LaneCursor.Look::whole)) {
            return;
        }
        int late = (int) sighting.rows().stream()
                .filter(row -> {
                    LaneCursor cursor = byLane.get(row.lane());
                    LaneCursor.Look look = looks.get(row.lane());
                    return cursor != null
                            && look != null
                            && look.whole()
                            && cursor.isBelowStart(row.row().seq());
                })
                .count();
        if (late > 0) {
            events.on(new Event.FoundLate(topic, late));
        }
    }

    /** A lane is read up to what is proved, or up to the last row if there may be more behind it. */
    private void advance(
            Map<Integer, LaneCursor> byLane,
            Map<Integer, LaneCursor.Look> looks,
            LaneStatements.Sighting sighting,
            long maxBytes) {
        long proved = horizon.proved();
        List<LaneStatements.LaneRow> rows = sighting.rows();
        long end =
                mayBeCutShort(rows, maxBytes) ? rows.get(rows.size() - 1).row().seq() : Long.MAX_VALUE;
        Map<Integer, Integer> count = new HashMap<>();
        Map<Integer, Long> last = new HashMap<>();
        for (LaneStatements.LaneRow row : rows) {
            count.merge(row.lane(), 1, Integer::sum);
            last.put(row.lane(), row.row().seq());
        }
        looks.forEach((lane, look) -> {
            boolean full = count.getOrDefault(lane, 0) >= look.room();
            LaneCursor cursor = byLane.get(lane);
            if (cursor != null) {
                cursor.advance(Math.min(
                        proved, Math.min(end, full ? last.getOrDefault(lane, Long.MAX_VALUE) : Long.MAX_VALUE)));
            }
        });
    }

    /** By the budget; of a row that makes no message the size is not known. */
    private static boolean mayBeCutShort(List<LaneStatements.LaneRow> rows, long maxBytes) {
        long bytes = 0;
        for (LaneStatements.LaneRow row : rows) {
            if (row.row().message() == null) {
                return true;
            }
            bytes += row.row().bytes();
        }
        return !rows.isEmpty() && bytes >= maxBytes;
    }

    @Override
    public List<LaneClaim> readTimed(TopicName topic, Collection<Lane> lanes, int limit, long maxBytes) {
        synchronized (reading) {
            int topicId = topicId(topic);
            Map<Integer, LaneCursor> byLane = byLane(lanes);
            if (byLane.isEmpty()) {
                return List.of();
            }
            List<Long> leaveOut = byLane.values().stream()
                    .flatMap(cursor -> cursor.inHand().stream())
                    .toList();
            List<LaneStatements.LaneRow> rows = run(
                    "read what is due in lanes",
                    connection -> statements.readTimed(
                            connection, topicId, List.copyOf(byLane.keySet()), leaveOut, limit, maxBytes));
            return take(lanes, byLane, rows);
        }
    }

    /** Of a held key only what comes before the first row that is not to be had: nothing may overtake it. */
    private List<LaneClaim> take(
            Collection<Lane> lanes, Map<Integer, LaneCursor> byLane, List<LaneStatements.LaneRow> rows) {
        Map<Integer, Lane> leases = lanes.stream().collect(Collectors.toMap(Lane::number, lane -> lane));
        Set<OrderingKey> ended = new HashSet<>();
        List<LaneClaim> claims = new ArrayList<>(rows.size());
        List<LaneStatements.LaneRow> unreadable = new ArrayList<>();
        for (LaneStatements.LaneRow found : rows) {
            LaneCursor cursor = byLane.get(found.lane());
            Lane lane = leases.get(found.lane());
            Message message = found.row().message();
            if (cursor == null || lane == null) {
                continue;
            }
            if (message == null || message.key() == null) {
                unreadable.add(found);
                continue;
            }
            LaneClaim.Place place = place(found.state());
            boolean taken = place == LaneClaim.Place.IN_ORDER
                    ? cursor.tookInOrder(found.row().seq())
                    : !ended.contains(OrderingKey.of(message))
                            && !found.state().equals("PARKED")
                            && cursor.tookWaiting(found.row().seq(), place == LaneClaim.Place.IN_HELD_KEY);
            if (taken) {
                claims.add(new LaneClaim(claim(found.row(), message, lane), found.lane(), place));
            } else if (place == LaneClaim.Place.IN_HELD_KEY) {
                ended.add(OrderingKey.of(message));
            }
        }
        buryUnreadable(byLane, unreadable);
        return claims;
    }

    private static LaneClaim.Place place(String state) {
        return switch (state) {
            case "PENDING" -> LaneClaim.Place.IN_ORDER;
            case "SCHEDULED" -> LaneClaim.Place.BESIDE;
            default -> LaneClaim.Place.IN_HELD_KEY;
        };
    }

    /** Attempts are counted when they have an outcome, so this is the next one. */
    private static Claim claim(ClaimedRow row, Message message, Lane lane) {
        return new Claim(row.seq(), message, row.attempts() + 1, row.crashes(), lane.lease());
    }

    private void buryUnreadable(Map<Integer, LaneCursor> byLane, List<LaneStatements.LaneRow> rows) {
        for (LaneStatements.LaneRow found : rows) {
            LaneCursor cursor = byLane.get(found.lane());
            UUID id = found.row().id();
            if (cursor != null && id != null) {
                bury(cursor, found, LaneOutcomes.unreadable(found, id, options.errorLimit()));
            }
        }
    }

    /** One that cannot be buried now must be met again: nothing else remembers it. */
    private void bury(LaneCursor cursor, LaneStatements.LaneRow found, LaneStatements.Move move) {
        LaneStatements.Leaving leaving = place(found.state()) == LaneClaim.Place.IN_HELD_KEY
                ? LaneStatements.Leaving.THEIR_KEY
                : LaneStatements.Leaving.THE_ORDER;
        LaneCursor.writing(List.of(cursor), () -> {
            boolean buried = false;
            boolean again = true;
            while (!buried && again) {
                buried = !run(
                                "bury an unreadable row",
                                connection -> statements.move(connection, List.of(cursor), List.of(move), leaving))
                        .keyHeld()
                        .isEmpty();
                again = !buried && refresh(List.of(cursor));
            }
            if (!buried && place(found.state()) == LaneClaim.Place.IN_ORDER) {
                cursor.readAgain(found.row().seq());
            }
            return buried;
        });
    }

    private Map<Integer, LaneCursor> byLane(Collection<Lane> lanes) {
        return cursors(lanes).stream().collect(Collectors.toMap(cursor -> cursor.lane, cursor -> cursor));
    }

    @Override
    public Map<TopicName, Duration> nextDue(Collection<Lane> lanes) {
        Map<LaneCursor, Long> starts = new HashMap<>();
        cursors(lanes).forEach(cursor -> starts.put(cursor, cursor.start()));
        if (starts.isEmpty()) {
            return Map.of();
        }
        Map<Integer, TopicName> names = new HashMap<>();
        lanes.forEach(lane -> names.put(topicId(lane.topic()), lane.topic()));
        Map<TopicName, Duration> due = new HashMap<>();
        sessions.statement("look for due messages in lanes", connection -> statements.nextDue(connection, starts))
                .forEach((id, micros) -> {
                    TopicName name = names.get(id);
                    if (name != null) {
                        due.put(name, Duration.of(Math.max(micros, 0), ChronoUnit.MICROS));
                    }
                });
        long now = nanos.getAsLong();
        for (Lane lane : lanes) {
            LaneCursor cursor = cursors.get(lane.lease().token());
            if (cursor != null && wholeLooks.room(now) > 0 && cursor.isWholeDue(now)) {
                due.put(lane.topic(), Duration.ZERO); // what was missed in a quiet lane nothing else would lead to
            }
        }
        return due;
    }

    // Outcomes

    @Override
    public List<Settlement> settle(List<? extends Outcome> outcomes) {
        Set<LaneCursor> lanes = new HashSet<>();
        for (Outcome outcome : outcomes) {
            LaneCursor cursor = cursors.get(outcome.claim().lease().token());
            if (cursor != null) {
                lanes.add(cursor);
            }
        }
        return LaneCursor.writing(lanes, () -> write(outcomes));
    }

    /** What was handled has left the table already, and only its key is to be seen to. */
    private List<Settlement> write(List<? extends Outcome> outcomes) {
        Map<Claim, Settlement> handled = new HashMap<>();
        List<Outcome> others = new ArrayList<>();
        for (Outcome outcome : outcomes) {
            if (outcome instanceof Outcome.Handled || outcome instanceof Outcome.Lost) {
                handled.put(outcome.claim(), handled(outcome));
            } else {
                others.add(outcome);
            }
        }
        List<Settlement> settlements = new ArrayList<>(outcomes.size());
        Iterator<Settlement> written = others.isEmpty()
                ? Collections.emptyIterator()
                : writeOthers(others).iterator();
        for (Outcome outcome : outcomes) {
            Settlement settlement = handled.get(outcome.claim());
            settlements.add(settlement == null ? written.next() : settlement);
        }
        return settlements;
    }

    private Settlement handled(Outcome outcome) {
        Claim claim = outcome.claim();
        LaneCursor cursor = cursors.get(claim.lease().token());
        boolean keyHeld = (cursor == null || cursor.isInHeldKey(claim.seq())) && goOnWithout(claim.message());
        if (outcome instanceof Outcome.Handled) {
            if (cursor != null) {
                cursor.finished(claim.seq());
            }
            return new Settlement.Settled(claim, keyHeld);
        }
        if (cursor == null) {
            return new Settlement.LeaseLost(claim, false);
        }
        refresh(List.of(cursor));
        cursor.putBack(claim.seq());
        return new Settlement.LeaseLost(claim, cursors.containsKey(cursor.token));
    }

    private boolean goOnWithout(Message message) {
        int topicId = topicId(message.topic());
        OrderingKey key = OrderingKey.of(message);
        int lanes = topics.known(message.topic()).map(Topics.Topic::lanes).orElse(0);
        int lane = LaneHash.of(key.tenant(), key.key(), lanes);
        return sessions.transaction(
                "go on with a key", connection -> statements.goOnWithout(connection, topicId, lane, key));
    }

    private List<Settlement> writeOthers(List<Outcome> outcomes) {
        LaneOutcomes batch = new LaneOutcomes(outcomes, cursors, options, unanswered);
        try {
            for (int race = 0; !batch.steps().isEmpty() && race < OPERATOR_RACES; race++) {
                for (LaneOutcomes.Step step : batch.steps()) {
                    write(batch, step);
                }
                List<LaneCursor> doubtful = batch.lanesWithUnwritten();
                if (doubtful.isEmpty() || !refresh(doubtful)) {
                    break;
                }
                batch = batch.unwritten();
            }
            List<Settlement> settlements = settlements(outcomes, batch);
            unanswered.answered(outcomes);
            return settlements;
        } catch (StoreUnavailableException e) {
            unanswered.outcomes(outcomes, this::revision);
            distrust();
            throw e;
        } catch (RuntimeException e) {
            unanswered.outcomes(
                    batch.writtenSoFar(outcomes), this::revision); // these have their answer, but nobody is told
            throw e;
        }
    }

    private int revision(Outcome outcome) {
        LaneCursor cursor = cursors.get(outcome.claim().lease().token());
        return cursor == null ? 0 : cursor.revision();
    }

    private void write(LaneOutcomes batch, LaneOutcomes.Step step) {
        Horizon.Seen seen = horizon.lastSeen();
        LaneStatements.Written written = run("write outcomes", connection -> step.write(connection, statements));
        if (!written.keyHeld().isEmpty()) {
            horizon.wrote(seen, written.transaction());
        }
        batch.written(written);
    }

    /** Whether an operator changed one of these lanes, so that writing again is worth it; lanes that are lost are forgotten. */
    private boolean refresh(List<LaneCursor> lanes) {
        Map<UUID, Integer> revisions =
                sessions.statement("look after lanes", connection -> statements.revisions(connection, lanes));
        boolean changed = false;
        for (LaneCursor lane : lanes) {
            Integer revision = revisions.get(lane.token);
            if (revision == null) {
                cursors.remove(lane.token);
            } else if (revision != lane.revision()) {
                lane.revision(revision);
                changed = true;
            }
        }
        return changed;
    }

    private List<Settlement> settlements(List<? extends Outcome> outcomes, LaneOutcomes batch) {
        List<Settlement> settlements = new ArrayList<>(outcomes.size());
        for (Outcome outcome : outcomes) {
            settlements.add(settlement(outcome, batch));
        }
        return settlements;
    }

    private Settlement settlement(Outcome outcome, LaneOutcomes batch) {
        Claim claim = outcome.claim();
        LaneCursor cursor = cursors.get(claim.lease().token());
        Boolean keyHeld = batch.keyHeld(claim);
        if (cursor == null) {
            return keyHeld == null ? new Settlement.LeaseLost(claim, false) : new Settlement.Settled(claim, keyHeld);
        }
        if (outcome instanceof Outcome.Released) {
            cursor.putBack(claim.seq());
            return new Settlement.Settled(claim);
        }
        if (keyHeld != null) {
            cursor.finished(claim.seq());
            return new Settlement.Settled(claim, keyHeld);
        }
        // The lane is ours, and the message is no longer there; whatever has its number now was left out by every look.
        cursor.putBack(claim.seq());
        return unanswered.wasSent(outcome)
                ? new Settlement.Settled(claim, true)
                : new Settlement.LeaseLost(claim, true);
    }

    private int topicId(TopicName name) {
        Topics.Topic topic = topics.known(name)
                .orElseGet(() -> sessions.statement("look up a topic", connection -> topics.require(connection, name)));
        if (topic.lanes() == 0) {
            throw new StoreException("Topic '" + name + "' is unordered and has no lanes", null);
        }
        return topic.id();
    }

    private <T> T run(String doing, Sessions.Body<T> body) {
        return dialect.worksInSingleStatements() ? sessions.statement(doing, body) : sessions.transaction(doing, body);
    }
}
