package dev.postrider.jdbc;

import dev.postrider.store.Lane;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The lanes that are held through one store: how far each was read, and the horizon that all of them go by. Thread-safe. */
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

    /** Null when the lane is not held any more. */
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
     * The database may have crashed, and a number that was given to a transaction that did not survive comes again; or it may be another
     * one, which lacks the last commits.
     */
    void distrust() {
        horizon.forget();
        cursors.values().forEach(LaneCursor::restart);
    }

    /** Asks where to begin with lanes of which that is not known; those that are lost are forgotten. */
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
        return table.statement("look after lanes", connection -> table.statements.standings(connection, lanes));
    }

    /** Whether an operator changed one of these lanes, so that writing again is worth it; lanes that are lost are forgotten. */
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
