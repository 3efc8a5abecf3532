package dev.postrider.simulation;

import dev.postrider.jdbc.Weather;
import java.util.ArrayList;
import java.util.List;

/**
 * What may go wrong in one run, drawn from its seed. Every fifth run has no trouble but connections that are cut, so that what only
 * other troubles excuse can be seen not to happen; half of these have an operator.
 *
 * @param poisons whether there are messages that kill the node that sends them
 * @param answers whether the destination may fail to answer in time
 */
record Misfortune(
        boolean onlyCuts,
        int nodes,
        List<Blow> blows,
        boolean databaseCrashes,
        boolean databaseFailsOver,
        boolean clockJumps,
        boolean operates,
        boolean answers,
        boolean poisons,
        Weather weather) {

    /** What may happen to a node. */
    enum Blow {
        KILL,
        FREEZE,
        CUT,
        STEP,
        RESTART,
        NOTHING
    }

    static Misfortune of(Chance chance) {
        int nodes = (int) chance.between(1, 3);
        if (chance.oneIn(5)) {
            List<Blow> cuts = List.of(Blow.CUT, Blow.NOTHING);
            return new Misfortune(
                    true,
                    nodes,
                    cuts,
                    false,
                    false,
                    false,
                    chance.oneIn(2),
                    chance.oneIn(2),
                    chance.oneIn(4),
                    Weather.onlyCuts(chance));
        }
        List<Blow> blows = new ArrayList<>();
        for (Blow blow : Blow.values()) {
            if (chance.oneIn(2)) {
                blows.add(blow);
            }
        }
        return new Misfortune(
                false,
                nodes,
                blows,
                chance.oneIn(2),
                chance.oneIn(4),
                chance.oneIn(4),
                chance.oneIn(2),
                true,
                false,
                Weather.of(chance));
    }

    Blow next(Chance chance) {
        return chance.pick(blows);
    }

    boolean nodesSuffer() {
        return !blows.isEmpty();
    }

    boolean databaseSuffers() {
        return databaseCrashes || databaseFailsOver || clockJumps;
    }
}
