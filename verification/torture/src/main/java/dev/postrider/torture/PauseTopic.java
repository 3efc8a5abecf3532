package dev.postrider.torture;

import dev.postrider.error.StoreException;
import java.util.concurrent.TimeUnit;

/** An operator pauses a topic for a while, on all nodes. */
final class PauseTopic implements Fault {

    private static final long PAUSE_MILLIS = 200;

    private final Operator operator;
    private final String topic;

    PauseTopic(Operator operator, String topic) {
        this.operator = operator;
        this.topic = topic;
    }

    @Override
    public String target() {
        return topic;
    }

    @Override
    public boolean begin() {
        try {
            operator.pause(topic);
        } catch (StoreException e) {
            // The topic may be paused nevertheless.
        }
        return true;
    }

    /** Repeats the call until it succeeds: the database may be down for longer than the pause. */
    @Override
    public void end() throws InterruptedException {
        while (true) {
            try {
                operator.resume(topic);
                return;
            } catch (StoreException e) {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
        }
    }
}
