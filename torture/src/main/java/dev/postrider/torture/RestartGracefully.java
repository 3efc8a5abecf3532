package dev.postrider.torture;

import java.time.Duration;
import java.util.List;

/** All workers are stopped and started again one after another, as when a new version is rolled out. */
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

    /** Those that are killed or paused at the moment are left out. */
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
