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

    /** They begin again where the lane row says: another server may have given the same numbers. */
    void restart() {
        cursors.values().forEach(LaneCursor::restart);
    }

    /** The database may have crashed, and a number that was given to a transaction that did not survive comes again. */
    void distrust() {
        horizon.forget();
        restart();
    }

    /** Whether an operator changed one of these lanes, so that writing again is worth it; lanes that are lost are forgotten. */
    boolean refresh(List<LaneCursor> lanes) {
        Map<UUID, Integer> revisions =
                table.statement("look after lanes", connection -> table.statements.revisions(connection, lanes));
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
}
