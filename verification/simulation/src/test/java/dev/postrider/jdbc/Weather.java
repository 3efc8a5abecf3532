package dev.postrider.jdbc;

import dev.postrider.simulation.Chance;
import java.time.Duration;

/**
 * What goes wrong between a node and the database, once in so many statements; 0 for never. Changed by the thread that has the baton.
 */
public final class Weather {

    private static final long LONGEST_STANDSTILL = 9_000;
    private static final long LONGEST_STALL = 6_000_000;

    /** How a statement fares. */
    enum Luck {
        GOOD,
        /** The connection is lost before the statement arrives. */
        LOST_BEFORE,
        /** It takes effect, and the connection is lost before the answer. */
        LOST_AFTER,
        /** The connection is given up, and the server does it all the same, later. */
        DONE_LATER,
    }

    int lostBefore;
    int lostAfter;
    int doneLater;

    /** A statement or an answer that takes as long as this, in microseconds, once in so many. */
    int slow;

    long slowMicros;

    int standstills;
    int stalls;
    int rareStalls;

    private boolean calm;

    /** Draws what kind of weather this run has. */
    public static Weather of(Chance chance) {
        Weather weather = new Weather();
        weather.lostBefore = chance.oneIn(3) ? 0 : (int) chance.between(15, 150);
        weather.lostAfter = chance.oneIn(3) ? 0 : (int) chance.between(15, 150);
        weather.doneLater = chance.oneIn(2) ? 0 : (int) chance.between(30, 200);
        weather.slow = chance.oneIn(3) ? 0 : (int) chance.between(10, 60);
        weather.slowMicros = chance.between(10_000, chance.oneIn(3) ? 6_000_000 : 1_500_000);
        weather.stalls = chance.oneIn(2) ? 0 : (int) chance.between(8, 40);
        weather.rareStalls = 2;
        weather.standstills = chance.oneIn(2) ? 0 : (int) chance.between(80, 500);
        return weather;
    }

    /** Connections are cut before or after a statement took effect, now and then; nothing takes long. */
    public static Weather onlyCuts(Chance chance) {
        Weather weather = new Weather();
        weather.lostBefore = chance.oneIn(3) ? 0 : (int) chance.between(15, 100);
        weather.lostAfter = chance.oneIn(3) ? 0 : (int) chance.between(15, 100);
        return weather;
    }

    /** Nothing goes wrong any more. */
    public void calm() {
        calm = true;
    }

    public boolean isCalm() {
        return calm;
    }

    Luck luck(Chance chance) {
        if (calm) {
            return Luck.GOOD;
        }
        if (chance.oneIn(lostBefore)) {
            return Luck.LOST_BEFORE;
        }
        if (chance.oneIn(lostAfter)) {
            return Luck.LOST_AFTER;
        }
        return chance.oneIn(doneLater) ? Luck.DONE_LATER : Luck.GOOD;
    }

    /**
     * How long a statement stands still in the middle, in nanoseconds.
     *
     * @param asLikely so many times as likely as elsewhere to be long
     */
    long stall(Chance chance, int asLikely) {
        return stallOnceIn(stalls / asLikely, chance);
    }

    /** The same for a rare statement that finds something even more rarely. */
    long rareStall(Chance chance) {
        return stallOnceIn(rareStalls, chance);
    }

    private long stallOnceIn(int times, Chance chance) {
        long micros = !calm && chance.oneIn(times) ? chance.between(1, LONGEST_STALL) : chance.between(1, 2_000);
        return micros * 1000;
    }

    /** For how long a machine stands still just before it sends a statement: the worst moment, since others take over meanwhile. */
    Duration standstill(Chance chance) {
        return !calm && chance.oneIn(standstills)
                ? Duration.ofMillis(chance.between(500, LONGEST_STANDSTILL))
                : Duration.ZERO;
    }

    /** How long a message takes on the network, in nanoseconds. */
    long delay(Chance chance) {
        long micros = !calm && chance.oneIn(slow) ? chance.between(1, slowMicros) : chance.between(20, 600);
        return micros * 1000;
    }
}
