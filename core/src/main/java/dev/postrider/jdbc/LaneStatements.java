package dev.postrider.jdbc;

import dev.postrider.internal.store.Lane;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The statements that acquire, renew and release the lanes of ordered topics. A lane is fenced by its token and its revision.
 */
interface LaneStatements {

    /**
     * A lane at its acquisition.
     *
     * @param crashed whether the last owner was lost
     * @param isolated the message in isolated delivery when the last owner was lost; null for none
     * @param buffer how many messages may have been in flight on the last owner
     */
    record AcquiredLane(
            int lane,
            UUID token,
            int revision,
            long floor,
            boolean crashed,
            @Nullable Long isolated,
            int buffer) {}

    /**
     * The result of a renewal.
     *
     * @param floors the stored floors, by the token of each renewed lane
     * @param locked the tokens of lanes that are still owned, and whose rows another session has locked
     * @param transaction as in {@link LaneOutcomeStatements.Written}
     */
    record Renewed(Map<UUID, Long> floors, Set<UUID> locked, long transaction) {}

    /**
     * The floors of lanes, valid for one server. On another server they have no meaning: it may lack the last commits and give out the same
     * numbers again.
     *
     * @param server the server whose rows proved the floors; null if none is known
     */
    record Floors(@Nullable String server, Map<LaneCursor, Long> byLane) {}

    /**
     * The contents of lane rows.
     *
     * @param server the server that returned the rows
     * @param byToken only the lanes that are still owned
     */
    record Standings(String server, Map<UUID, Standing> byToken) {}

    /** @param floor as in {@link Floors} */
    record Standing(int revision, long floor) {}

    /** The result of noting an isolated delivery, or of removing the note. */
    enum Noted {
        DONE,

        /** Nothing was changed, because another session has locked the lane. */
        LOCKED,

        /** Nothing was changed, because this node no longer owns the lane. */
        LOST;

        static Noted of(boolean noted, boolean owned) {
            if (noted) {
                return DONE;
            }
            return owned ? LOCKED : LOST;
        }
    }

    /** @param buffer how many messages may be in flight on the new owner, from the acquisition on */
    List<AcquiredLane> acquire(Connection connection, int topicId, Lane.Request request, List<UUID> tokens, int buffer)
            throws SQLException;

    /**
     * Extends the leases, and stores each floor that is higher than the stored one. Returns the lanes that are still owned.
     *
     * @param wait whether to wait for the row of a lane that another session has locked, instead of skipping it
     */
    Renewed renew(Connection connection, Floors floors, Duration lease, int buffer, boolean wait) throws SQLException;

    /** Whether a renewal conflicts with concurrent writes of outcomes in the lane, so that it must wait for their locks. */
    boolean renewalMeetsOutcomes();

    /** Releases lanes that no other session has locked. Returns their tokens. */
    Set<UUID> release(Connection connection, Floors floors) throws SQLException;

    /**
     * Releases lanes whose acquisition or release got no answer, or whose row was locked at their release.
     *
     * @param wait whether to wait for a lane that another session has locked, instead of skipping it
     */
    void releaseTokens(Connection connection, Collection<UUID> tokens, boolean wait) throws SQLException;

    Standings standings(Connection connection, Collection<LaneCursor> lanes) throws SQLException;

    /**
     * Counts a crash for the messages that may have been in flight on the lost owners, up to two crashes each. Two crashes make a message a
     * suspect. A suspect in isolated delivery, as noted in its lane, gets one more crash, also beyond two. Locked messages are skipped.
     */
    void suspect(Connection connection, int topicId, List<AcquiredLane> crashed) throws SQLException;

    /** Does not wait for a lane that another session has locked. */
    Noted setIsolated(Connection connection, LaneCursor lane, @Nullable Long seq) throws SQLException;
}
