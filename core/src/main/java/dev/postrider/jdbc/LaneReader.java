package dev.postrider.jdbc;

import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads lanes: the next messages in order, and the due messages that are scheduled or in blocked keys. Thread-safe. Reads run one after
 * another, because an older scan must not use the result of a newer scan.
 */
final class LaneReader {

    private static final Logger log = LoggerFactory.getLogger(LaneReader.class);

    private final LaneTable table;
    private final LaneCursors cursors;
    private final StorageOptions options;
    private final PayloadOpener opener;
    private final EventListener events;
    private final LongSupplier nanos;
    private final FullScanBudget fullScans = new FullScanBudget();
    private final Object reading = new Object();
    private final Set<TopicName> paused = ConcurrentHashMap.newKeySet();

    /** @param nanos the monotonic clock */
    LaneReader(LaneTable table, LaneCursors cursors, StorageOptions options, EventListener events, LongSupplier nanos) {
        this.table = table;
        this.cursors = cursors;
        this.options = options;
        this.opener = new PayloadOpener(options);
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

    /** Returns null if another server answered than the one that gave the floors: it may have rows below the start of the scan. */
    private @Nullable List<LaneClaim> readOnce(TopicName topic, Map<Lane, Integer> room, long maxBytes) {
        int topicId = table.topicId(topic);
        cursors.findFloors(room.keySet());
        Map<Integer, LaneCursor> byLane = cursors.byLane(room.keySet());
        Map<Integer, LaneCursor.LaneScan> scans = new HashMap<>();
        List<Integer> full = new ArrayList<>();
        long knownUpTo =
                byLane.values().stream().mapToLong(LaneCursor::knownUpTo).min().orElse(Long.MAX_VALUE);
        long began = nanos.getAsLong();
        int mostFull = fullScans.room(began);
        room.forEach((lane, count) -> {
            LaneCursor cursor = byLane.get(lane.number());
            if (cursor != null) {
                LaneCursor.LaneScan scan = cursor.scan(count, began, full.size() < mostFull);
                scans.put(lane.number(), scan);
                if (scan.full()) {
                    full.add(lane.number());
                }
            }
        });
        if (scans.isEmpty()) {
            return List.of();
        }
        promoteMissingHeads(topicId, full, byLane, began);
        LaneReads.LaneRead laneRead = scan(topicId, topic, scans, maxBytes);
        fullScans.took(full.size(), began, nanos.getAsLong());
        if (!cursors.horizon.see(laneRead.sight())) {
            return null;
        }
        notePause(topic, laneRead.paused());
        reportLate(topic, byLane, scans, laneRead);
        List<LaneReads.LaneRow> rows = opened(laneRead.rows());
        List<LaneClaim> claims = take(room.keySet(), byLane, rows, Set.of());
        if (!laneRead.paused()) {
            advance(byLane, scans, rows, Math.min(cursors.horizon.proved(), knownUpTo), maxBytes);
        }
        if (claims.isEmpty()) {
            withoutCipher(topic, rows).ifPresent(e -> {
                throw e;
            });
        }
        return claims;
    }

    private List<LaneReads.LaneRow> opened(List<LaneReads.LaneRow> rows) {
        return rows.stream().noneMatch(found -> found.row().isSealed())
                ? rows
                : rows.stream()
                        .map(found -> new LaneReads.LaneRow(found.lane(), found.state(), opener.open(found.row())))
                        .toList();
    }

    private static Optional<CipherUnavailableException> withoutCipher(TopicName topic, List<LaneReads.LaneRow> rows) {
        return rows.stream()
                .filter(found -> found.row().isSealed())
                .findFirst()
                .map(found -> new CipherUnavailableException(
                        "Messages of '" + topic + "' were not delivered, and wait: "
                                + found.row().problem(),
                        null));
    }

    private void promoteMissingHeads(int topicId, List<Integer> lanes, Map<Integer, LaneCursor> byLane, long now) {
        LaneTable.Unpromoted unpromoted = table.promoteMissingHeads(topicId, lanes);
        byLane.forEach((lane, cursor) -> {
            unpromoted.lockedHeads().getOrDefault(lane, Set.of()).forEach(head -> cursor.headIsLocked(head, now));
            if (unpromoted.lockedLanes().contains(lane)) {
                cursor.fullScanSoon(now);
            }
        });
    }

    private LaneReads.LaneRead scan(
            int topicId, TopicName topic, Map<Integer, LaneCursor.LaneScan> scans, long maxBytes) {
        try {
            return table.run(
                    "read lanes",
                    connection ->
                            table.sql.reads().read(connection, topicId, topic, List.copyOf(scans.values()), maxBytes));
        } catch (StoreUnavailableException e) {
            cursors.distrust();
            throw e;
        }
    }

    /** Reports messages that a full scan finds below the start. Every earlier scan missed them, which is a fault. */
    private void reportLate(
            TopicName topic,
            Map<Integer, LaneCursor> byLane,
            Map<Integer, LaneCursor.LaneScan> scans,
            LaneReads.LaneRead laneRead) {
        if (scans.values().stream().noneMatch(LaneCursor.LaneScan::full)) {
            return;
        }
        int late = (int) laneRead.rows().stream()
                .filter(row -> {
                    LaneCursor cursor = byLane.get(row.lane());
                    LaneCursor.LaneScan scan = scans.get(row.lane());
                    return cursor != null
                            && scan != null
                            && scan.full()
                            && cursor.isBelowStart(row.row().seq());
                })
                .count();
        if (late > 0) {
            events.on(new Event.FoundLate(topic, late));
        }
    }

    /** Advances each lane to the proved number, or only to its last row if there may be more rows behind it. */
    private void advance(
            Map<Integer, LaneCursor> byLane,
            Map<Integer, LaneCursor.LaneScan> scans,
            List<LaneReads.LaneRow> rows,
            long proved,
            long maxBytes) {
        long end =
                mayBeCutShort(rows, maxBytes) ? rows.get(rows.size() - 1).row().seq() : Long.MAX_VALUE;
        Map<Integer, RowsOfLane> byNumber = new HashMap<>();
        for (LaneReads.LaneRow row : rows) {
            RowsOfLane ofLane = byNumber.computeIfAbsent(row.lane(), lane -> new RowsOfLane());
            ofLane.count++;
            ofLane.last = row.row().seq();
        }
        scans.forEach((lane, scan) -> {
            RowsOfLane ofLane = byNumber.get(lane);
            LaneCursor cursor = byLane.get(lane);
            if (cursor != null) {
                long last = ofLane != null && ofLane.count >= scan.room() ? ofLane.last : Long.MAX_VALUE;
                cursor.advance(Math.min(proved, Math.min(end, last)));
            }
        });
    }

    /** How many rows a read returned for a lane, and the number of the last one. */
    private static final class RowsOfLane {
        int count;
        long last;
    }

    /** Whether the byte budget may have cut the rows short. The size of a row without a message is not known. */
    private static boolean mayBeCutShort(List<LaneReads.LaneRow> rows, long maxBytes) {
        long bytes = 0;
        for (LaneReads.LaneRow row : rows) {
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
            Set<Long> inFlight = byLane.values().stream()
                    .flatMap(cursor -> cursor.inFlight().stream())
                    .collect(Collectors.toUnmodifiableSet());
            LaneReads.TimedScan scan =
                    new LaneReads.TimedScan(List.copyOf(byLane.keySet()), List.copyOf(inFlight), limit, maxBytes);
            List<LaneReads.LaneRow> rows = table.run(
                    "read due messages of lanes",
                    connection -> table.sql.reads().readTimed(connection, topicId, topic, scan));
            List<LaneReads.LaneRow> opened = opened(rows);
            List<LaneClaim> claims = take(lanes, byLane, opened, notToTake(opened, inFlight));
            withoutCipher(topic, opened)
                    .ifPresent(e -> events.on(new Event.StoreFailed(
                            "decrypt messages of " + topic, String.valueOf(e.getMessage()), Duration.ZERO)));
            return claims;
        }
    }

    /** The messages in flight, and those that another transaction has locked, perhaps to cancel them. */
    private Set<Long> notToTake(List<LaneReads.LaneRow> rows, Set<Long> inFlight) {
        List<Long> found = rows.stream()
                .map(row -> row.row().seq())
                .filter(seq -> !inFlight.contains(seq))
                .toList();
        if (found.isEmpty()) {
            return inFlight;
        }
        Set<Long> free = table.run(
                "lock due messages of lanes", connection -> table.sql.reads().lockDue(connection, found));
        Set<Long> notToTake = new HashSet<>(inFlight);
        found.stream().filter(seq -> !free.contains(seq)).forEach(notToTake::add);
        return notToTake;
    }

    /**
     * Turns rows into claims. Of a blocked key it takes only the rows before the first row that cannot be taken, and of any key those
     * before the first row whose cipher is not available: no message may overtake that row. An unreadable row is a claim too, so that its
     * turn in its key comes; without an ordering key it is buried here.
     *
     * @param notToTake the messages that were in flight before the read: if such a message has its outcome now, its row is out of date; and
     *     messages that another transaction has locked
     */
    private List<LaneClaim> take(
            Collection<Lane> lanes,
            Map<Integer, LaneCursor> byLane,
            List<LaneReads.LaneRow> rows,
            Set<Long> notToTake) {
        Map<Integer, Lane> leases = lanes.stream().collect(Collectors.toMap(Lane::number, lane -> lane));
        Set<OrderingKey> ended = new HashSet<>();
        List<LaneClaim> claims = new ArrayList<>(rows.size());
        List<LaneReads.LaneRow> unreadable = new ArrayList<>();
        for (LaneReads.LaneRow found : rows) {
            LaneCursor cursor = byLane.get(found.lane());
            Lane lane = leases.get(found.lane());
            Message message = found.row().messageOrPlaceholder();
            if (cursor == null || lane == null) {
                continue;
            }
            if (mustWait(found, ended)) {
                readAgain(cursor, found);
                continue;
            }
            if (message == null || message.key() == null) {
                unreadable.add(found);
                continue;
            }
            LaneClaim.Place place = place(found.state());
            boolean taken = place == LaneClaim.Place.IN_ORDER
                    ? cursor.addInOrder(found.row().seq())
                    : !ended.contains(OrderingKey.of(message))
                            && isAttempted(found.state())
                            && !notToTake.contains(found.row().seq())
                            && cursor.addWaiting(found.row().seq(), place == LaneClaim.Place.IN_BLOCKED_KEY);
            if (taken) {
                claims.add(new LaneClaim(
                        claim(found.row(), message, lane),
                        found.lane(),
                        place,
                        found.row().problem()));
            } else if (place == LaneClaim.Place.IN_BLOCKED_KEY) {
                ended.add(OrderingKey.of(message));
            }
        }
        buryUnreadable(byLane, unreadable);
        return claims;
    }

    /**
     * Whether the cipher of the message is not available, or, in order, that of an earlier message of its key. Adds its key to the ended
     * ones.
     */
    private static boolean mustWait(LaneReads.LaneRow found, Set<OrderingKey> ended) {
        ReadMessage sealed = found.row().sealed();
        if (sealed != null && sealed.message().key() != null) {
            ended.add(OrderingKey.of(sealed.message()));
            return true;
        }
        Message message = found.row().messageOrPlaceholder();
        return !ended.isEmpty()
                && found.state() == RowState.PENDING
                && message != null
                && message.key() != null
                && ended.contains(OrderingKey.of(message));
    }

    /** Whether a message in this state is attempted. An operator may have parked or buried it between the statements of the read. */
    private static boolean isAttempted(RowState state) {
        return state == RowState.RETRY || state == RowState.BLOCKED || state == RowState.SCHEDULED;
    }

    private static LaneClaim.Place place(RowState state) {
        return switch (state) {
            case PENDING -> LaneClaim.Place.IN_ORDER;
            case SCHEDULED -> LaneClaim.Place.OUT_OF_ORDER;
            default -> LaneClaim.Place.IN_BLOCKED_KEY;
        };
    }

    /** An attempt is counted when its outcome is written, so this claim is the next attempt. */
    private static Claim claim(ClaimedRow row, Message message, Lane lane) {
        return new Claim(row.seq(), message, row.attempts() + 1, row.crashes(), lane.lease());
    }

    private void buryUnreadable(Map<Integer, LaneCursor> byLane, List<LaneReads.LaneRow> rows) {
        for (LaneReads.LaneRow found : rows) {
            LaneCursor cursor = byLane.get(found.lane());
            UUID id = found.row().id();
            if (cursor != null && id != null && !isBuried(cursor, found, id)) {
                readAgain(cursor, found);
            }
        }
    }

    /** A failure must not drop the other rows of the read: they are noted as read, and no other read would return them. */
    private boolean isBuried(LaneCursor cursor, LaneReads.LaneRow found, UUID id) {
        try {
            return bury(
                    cursor,
                    found,
                    LaneOutcomes.unreadable(found, id, options.tables().errorLimit()));
        } catch (RuntimeException e) {
            log.warn(
                    "Row {} is unreadable and could not be buried; the next read tries to bury it",
                    found.row().seq(),
                    e);
            if (e instanceof StoreUnavailableException) {
                cursors.distrust();
            }
            return false;
        }
    }

    /** Lets the next scan read a row again that could not be buried, or must wait: the row is noted nowhere else. */
    private static void readAgain(LaneCursor cursor, LaneReads.LaneRow found) {
        if (place(found.state()) == LaneClaim.Place.IN_ORDER) {
            cursor.readAgain(found.row().seq());
        }
    }

    private boolean bury(LaneCursor cursor, LaneReads.LaneRow found, LaneOutcomeStatements.Move move) {
        LaneOutcomeStatements.Leaving leaving = place(found.state()) == LaneClaim.Place.IN_BLOCKED_KEY
                ? LaneOutcomeStatements.Leaving.THEIR_KEY
                : LaneOutcomeStatements.Leaving.THE_ORDER;
        return LaneCursor.writing(List.of(cursor), () -> {
            boolean buried = false;
            boolean again = true;
            while (!buried && again) {
                LaneOutcomeStatements.Written written = table.run(
                        "bury an unreadable row",
                        connection -> table.sql.outcomes().move(connection, List.of(cursor), List.of(move), leaving));
                written.lockedHeads().values().forEach(head -> cursor.headIsLocked(head, nanos.getAsLong()));
                buried = !written.isEmpty();
                if (buried) {
                    report(found.row(), move);
                }
                again = !buried && cursors.refresh(List.of(cursor));
            }
            return buried;
        });
    }

    private void report(ClaimedRow row, LaneOutcomeStatements.Move move) {
        Message message = row.placeholder();
        if (message != null) {
            String reason = DeadReason.UNREADABLE.name();
            String error = String.valueOf(move.error());
            events.on(new Event.Buried(message, move.attempts(), move.attempts(), reason, error, null));
        }
    }

    /** @return the number of messages that were noted as read from these lanes and are not in flight; they are read again */
    int reconcile(Map<Lane, Set<Long>> inFlight) {
        synchronized (reading) {
            int stray = 0;
            for (Map.Entry<Lane, Set<Long>> lane : inFlight.entrySet()) {
                LaneCursor cursor = cursors.get(lane.getKey().lease().token());
                int found = cursor == null ? 0 : cursor.putBackExcept(lane.getValue());
                if (found > 0) {
                    log.error(
                            "{} messages of lane {} of {} were noted as read, but not in flight: they are read again",
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

    private void notePause(TopicName topic, boolean isPaused) {
        if (isPaused) {
            paused.add(topic);
        } else {
            paused.remove(topic);
        }
    }

    boolean isPaused(TopicName topic) {
        return paused.contains(topic);
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
        LaneReads.DueTopics dueTopics = table.statement(
                "find due messages of lanes", connection -> table.sql.reads().nextDue(connection, starts));
        dueTopics.due().forEach((id, micros) -> {
            TopicName name = names.get(id);
            if (name != null) {
                due.put(name, Duration.of(Math.max(micros, 0), ChronoUnit.MICROS));
            }
        });
        names.forEach((id, name) -> notePause(name, dueTopics.paused().contains(id)));
        long now = nanos.getAsLong();
        for (Lane lane : lanes) {
            LaneCursor cursor = cursors.get(lane.lease().token());
            if (cursor != null && fullScans.room(now) > 0 && cursor.isFullScanDue(now)) {
                due.put(lane.topic(), Duration.ZERO); // only a full scan finds a missed message of a quiet lane
            }
        }
        return due;
    }
}
