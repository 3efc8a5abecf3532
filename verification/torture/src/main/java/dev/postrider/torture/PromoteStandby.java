package dev.postrider.torture;

import dev.postrider.testkit.database.DatabaseServer;
import dev.postrider.testkit.database.Standby;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Adds a standby that commits wait for, and later kills the database server. The standby takes over at the same address, on a new
 * timeline.
 */
final class PromoteStandby implements Fault {

    private final DatabaseServer server;
    private final Semaphore once;
    private @Nullable Standby standby;

    /** @param once one permit, shared by all faults that crash this server */
    PromoteStandby(DatabaseServer server, Semaphore once) {
        this.server = server;
        this.once = once;
    }

    @Override
    public String target() {
        return "all";
    }

    @Override
    public boolean begin() {
        if (!once.tryAcquire()) {
            return false;
        }
        Standby follower = null;
        try {
            follower = Standby.of(server);
            follower.bindCommits();
            standby = follower;
        } finally {
            if (standby == null) {
                giveUp(follower);
            }
        }
        return true;
    }

    private void giveUp(@Nullable Standby follower) {
        try {
            if (follower != null) {
                follower.close();
            }
        } finally {
            once.release();
        }
    }

    @Override
    public void end() {
        try (Standby heir = standby) {
            if (heir != null) {
                server.crash();
                heir.promote();
                heir.takePlace();
                server.restart();
            }
        } finally {
            once.release();
        }
    }
}
