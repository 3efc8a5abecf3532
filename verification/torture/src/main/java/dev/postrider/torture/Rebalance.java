package dev.postrider.torture;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One more worker starts, acquires its share of the lanes, and stops gracefully. */
final class Rebalance implements Fault {

    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

    private final Site site;
    private @Nullable Child another;

    Rebalance(Site site) {
        this.site = site;
    }

    @Override
    public String target() {
        return another == null ? "" : "worker-" + another.number();
    }

    @Override
    public boolean begin() {
        another = site.anotherWorker();
        return true;
    }

    @Override
    public void end() throws InterruptedException {
        if (another != null) {
            another.stop(STOP_LIMIT);
        }
    }
}
