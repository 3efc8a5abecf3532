package dev.postrider.torture;

import dev.postrider.testkit.database.DatabaseServer;
import java.util.concurrent.Semaphore;

/** The database server and all its processes die at once, and it is started again on what it has on disk. */
final class CrashDatabase implements Fault {

    private final DatabaseServer server;
    private final Semaphore once;

    /** @param once the same for all that crash this server */
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
