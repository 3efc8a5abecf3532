package dev.postrider.jdbc;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.Lane;
import dev.postrider.store.LaneClaim;
import dev.postrider.store.OrderingKey;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads lanes: what is next in their order, and what is due beside it and in held keys. Thread-safe; reads are one after another, because
 * what one look proves an older look must not use.
 */
final class LaneReader {

    private static final Logger log = LoggerFactory.getLogger(LaneReader.class);

    private final LaneTable table;
    private final LaneCursors cursors;
    private final JdbcOptions options;
    private final EventListener events;
    private final LongSupplier nanos;
    private final WholeLooks wholeLooks = new WholeLooks();
    private final Object reading = new Object();

    /** @param nanos the monotonic clock */
    LaneReader(LaneTable table, LaneCursors cursors, JdbcOptions options, EventListener events, LongSupplier nanos) {
        this.table = table;
        this.cursors = cursors;
        this.options = options;
        this.events = events;
        this.nanos = nanos;
    }

    List<LaneClaim> read(TopicName topic, Map<Lane, Integer> room, long maxBytes) {
        synchronized (reading) {
            List<LaneClaim> claims = readOnce(topic, room, maxBytes);
            if (claims == null) {
                cursors.distrust();
                claims = readOnce(topic, room, maxBytes);
            }
            return Objects.requireNonNullElse(claims, List.of());
        }
    }

    /** Null if another server has answered than said where to begin: it may have rows before those that were asked for. */
    private @Nullable List<LaneClaim> readOnce(TopicName topic, Map<Lane, Integer> room, long maxBytes) {
        int topicId = table.topicId(topic);
        cursors.findFloors(room.keySet());
        Map<Integer, LaneCursor> byLane = cursors.byLane(room.keySet());
        Map<Integer, LaneCursor.Look> looks = new HashMap<>();
        List<Integer> whole = new ArrayList<>();
        long knownUpTo =
                byLane.values().stream().mapToLong(LaneCursor::knownUpTo).min().orElse(Long.MAX_VALUE);
        long began = nanos.getAsLong();
        int mayBeWhole = wholeLooks.room(began);
        room.forEach((lane, count) -> {
            LaneCursor cursor = byLane.get(lane.number());
            if (cursor != null) {
                LaneCursor.Look look = cursor.look(count, began, whole.size() < mayBeWhole);
                looks.put(lane.number(), look);
                if (look.whole()) {
                    whole.add(lane.number());
                }
            }
        });
        if (looks.isEmpty()) {
            return List.of();
        }
        table.goOnWithoutHeads(topicId, whole).forEach((lane, heads) -> {
            LaneCursor cursor = byLane.get(lane);
            if (cursor != null) {
                heads.forEach(head -> cursor.headIsLocked(head, began));
            }
        });
        LaneStatements.Sighting sighting = sight(topicId, looks, maxBytes);
        wholeLooks.took(whole.size(), began, nanos.getAsLong());
        if (!cursors.horizon.see(sighting.sight())) {
            return null;
        }
        reportLate(topic, byLane, looks, sighting);
        List<LaneClaim> claims = take(room.keySet(), byLane, sighting.rows(), Set.of());
        if (!sighting.paused()) {
            advance(byLane, looks, sighting, Math.min(cursors.horizon.proved(), knownUpTo), maxBytes);
        }
        return claims;
    }

    private LaneStatements.Sighting sight(int topicId, Map<Integer, LaneCursor.Look> looks, long maxBytes) {
        try {
            return table.run(
                    "read lanes",
                    connection -> table.statements.read(connection, topicId, List.copyOf(looks.values()), maxBytes));
        } catch (StoreUnavailableException e) {
            cursors.distrust();
            throw e;
        }
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
            long proved,
            long maxBytes) {
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

    List<LaneClaim> readTimed(TopicName topic, Collection<Lane> lanes, int limit, long maxBytes) {
        synchronized (reading) {
            int topicId = table.topicId(topic);
            Map<Integer, LaneCursor> byLane = cursors.byLane(lanes);
            if (byLane.isEmpty()) {
                return List.of();
            }
            Set<Long> inHand = byLane.values().stream()
                    .flatMap(cursor -> cursor.inHand().stream())
                    .collect(Collectors.toUnmodifiableSet());
            List<LaneStatements.LaneRow> rows = table.run(
                    "read what is due in lanes",
                    connection -> table.statements.readTimed(
                            connection, topicId, List.copyOf(byLane.keySet()), List.copyOf(inHand), limit, maxBytes));
            return take(lanes, byLane, rows, inHand);
        }
    }

    /**
     * Of a held key only what comes before the first row that is not to be had: nothing may overtake it.
     *
     * @param inHand what of the rows was in hand before they were read: if it has its outcome now, they were read before that
     */
    private List<LaneClaim> take(
            Collection<Lane> lanes,
            Map<Integer, LaneCursor> byLane,
            List<LaneStatements.LaneRow> rows,
            Set<Long> inHand) {
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
                            && !inHand.contains(found.row().seq())
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
            if (cursor != null && id != null && !isBuried(cursor, found, id)) {
                readAgain(cursor, found);
            }
        }
    }

    /** A failure is no reason to drop the other rows of the read: they are noted as read, and no other read would return them. */
    private boolean isBuried(LaneCursor cursor, LaneStatements.LaneRow found, UUID id) {
        try {
            return bury(cursor, found, LaneOutcomes.unreadable(found, id, options.errorLimit()));
        } catch (RuntimeException e) {
            log.warn(
                    "Row {} makes no message and could not be buried; the next read tries again",
                    found.row().seq(),
                    e);
            if (e instanceof StoreUnavailableException) {
                cursors.distrust();
            }
            return false;
        }
    }

    /** A row that cannot be buried now must be met again: nothing else remembers it. */
    private static void readAgain(LaneCursor cursor, LaneStatements.LaneRow found) {
        if (place(found.state()) == LaneClaim.Place.IN_ORDER) {
            cursor.readAgain(found.row().seq());
        }
    }

    private boolean bury(LaneCursor cursor, LaneStatements.LaneRow found, LaneStatements.Move move) {
        LaneStatements.Leaving leaving = place(found.state()) == LaneClaim.Place.IN_HELD_KEY
                ? LaneStatements.Leaving.THEIR_KEY
                : LaneStatements.Leaving.THE_ORDER;
        return LaneCursor.writing(List.of(cursor), () -> {
            boolean buried = false;
            boolean again = true;
            while (!buried && again) {
                buried = !table.run(
                                "bury an unreadable row",
                                connection ->
                                        table.statements.move(connection, List.of(cursor), List.of(move), leaving))
                        .keyHeld()
                        .isEmpty();
                again = !buried && cursors.refresh(List.of(cursor));
            }
            return buried;
        });
    }

    /** @return how many rows were noted as read from these lanes and are not in flight; they are read again */
    int reconcile(Map<Lane, Set<Long>> inFlight) {
        synchronized (reading) {
            int stray = 0;
            for (Map.Entry<Lane, Set<Long>> lane : inFlight.entrySet()) {
                LaneCursor cursor = cursors.get(lane.getKey().lease().token());
                int found = cursor == null ? 0 : cursor.putBackExcept(lane.getValue());
                if (found > 0) {
                    log.error(
                            "{} messages of lane {} of {} were noted as read and not in flight: they are read again",
                            found,
                            lane.getKey().number(),
                            lane.getKey().topic());
                    events.on(new Event.FoundLate(lane.getKey().topic(), found));
                }
                stray += found;
            }
            return stray;
        }
    }

    Map<TopicName, Duration> nextDue(Collection<Lane> lanes) {
        Map<LaneCursor, Long> starts = new HashMap<>();
        cursors.of(lanes).forEach(cursor -> starts.put(cursor, cursor.start()));
        if (starts.isEmpty()) {
            return Map.of();
        }
        Map<Integer, TopicName> names = new HashMap<>();
        lanes.forEach(lane -> names.put(table.topicId(lane.topic()), lane.topic()));
        Map<TopicName, Duration> due = new HashMap<>();
        table.statement("look for due messages in lanes", connection -> table.statements.nextDue(connection, starts))
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
}
