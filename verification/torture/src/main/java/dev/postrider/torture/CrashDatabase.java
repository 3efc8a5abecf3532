package dev.postrider.torture;

import dev.postrider.testkit.database.DatabaseServer;
import java.util.concurrent.Semaphore;

/** Kills the database server and all its processes at once, and restarts it on the data that it has on disk. */
final class CrashDatabase implements Fault {

    private final DatabaseServer server;
    private final Semaphore once;

    /** @param once one permit, shared by all faults that crash this server */
    CrashDatabase(DatabaseServer server, Semaphore once) {
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
        server.crash();
        return true;
    }

    @Override
    public void end() {
        try {
            server.restart();
        } finally {
            once.release();
        }
    }
}
