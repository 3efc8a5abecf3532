package dev.postrider.torture;

import java.time.Duration;
import java.util.List;

/** Stops and restarts all workers gracefully one after another, as a rolling deployment does. */
final class RestartGracefully implements Fault {

    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

    private final List<Slot> workers;

    RestartGracefully(List<Slot> workers) {
        this.workers = workers;
    }

    @Override
    public String target() {
        return "workers";
    }

    /** Skips workers that another fault has taken. */
    @Override
    public boolean begin() throws InterruptedException {
        for (Slot worker : workers) {
            if (worker.take()) {
                try {
                    worker.current().stop(STOP_LIMIT);
                    worker.start();
                    worker.awaitReady();
                } finally {
                    worker.giveBack();
                }
            }
        }
        return true;
    }

    @Override
    public void end() {}
}
