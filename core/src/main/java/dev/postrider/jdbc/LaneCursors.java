package dev.postrider.jdbc;

import dev.postrider.internal.store.Lane;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The cursors of the lanes that one store owns, and their common horizon. Thread-safe. */
final class LaneCursors {

    final Horizon horizon = new Horizon();
    private final LaneTable table;
    private final Map<UUID, LaneCursor> cursors = new ConcurrentHashMap<>();

    LaneCursors(LaneTable table) {
        this.table = table;
    }

    void put(LaneCursor cursor) {
        cursors.put(cursor.token, cursor);
    }

    /** Returns null if the lane is no longer owned. */
    @Nullable
    LaneCursor get(UUID token) {
        return cursors.get(token);
    }

    void remove(UUID token) {
        cursors.remove(token);
    }

    List<LaneCursor> of(Collection<Lane> lanes) {
        return lanes.stream()
                .map(lane -> cursors.get(lane.lease().token()))
                .filter(Objects::nonNull)
                .toList();
    }

    Map<Integer, LaneCursor> byLane(Collection<Lane> lanes) {
        return of(lanes).stream().collect(Collectors.toMap(cursor -> cursor.lane, cursor -> cursor));
    }

    /**
     * Discards the horizon and restarts all cursors. The database may have crashed: then it gives out the numbers of lost
     * transactions again. Or another server may have taken over without the last commits.
     */
    void distrust() {
        horizon.forget();
        cursors.values().forEach(LaneCursor::restart);
    }

    /** Reads the floors of lanes whose floor is not known. Removes the cursors of lost lanes. */
    void findFloors(Collection<Lane> lanes) {
        List<LaneCursor> lost =
                of(lanes).stream().filter(cursor -> !cursor.isFloorKnown()).toList();
        if (lost.isEmpty()) {
            return;
        }
        LaneStatements.Standings standings = standings(lost);
        if (horizon.isOfAnotherServer(standings.server())) {
            distrust();
        }
        horizon.begin(standings.server());
        for (LaneCursor cursor : lost) {
            LaneStatements.Standing standing = standings.byToken().get(cursor.token);
            if (standing == null) {
                cursors.remove(cursor.token);
            } else {
                cursor.begin(standing.floor());
            }
        }
    }

    private LaneStatements.Standings standings(List<LaneCursor> lanes) {
        return table.statement(
                "read the rows of lanes", connection -> table.sql.lanes().standings(connection, lanes));
    }

    /** Whether an operator has changed one of these lanes, so that outcomes should be written again. Removes the cursors of lost lanes. */
    boolean refresh(List<LaneCursor> lanes) {
        Map<UUID, LaneStatements.Standing> standings = standings(lanes).byToken();
        boolean changed = false;
        for (LaneCursor lane : lanes) {
            LaneStatements.Standing standing = standings.get(lane.token);
            if (standing == null) {
                cursors.remove(lane.token);
            } else if (standing.revision() != lane.revision()) {
                lane.revision(standing.revision());
                changed = true;
            }
        }
        return changed;
    }
}
