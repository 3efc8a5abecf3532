package dev.postrider.torture;

import dev.postrider.Postrider;
import dev.postrider.admin.Admin;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.error.PostriderException;
import dev.postrider.testkit.database.Database;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * An operator who works during the faults: replays and discards dead letters, and retries or buries the heads of blocked keys.
 * Thread-safe.
 */
final class Operator {

    private static final String NAME = "torture";
    private static final int AT_ONCE = 50;
    private static final List<String> TOPICS =
            List.of(Business.LEDGER, Business.FLOW, Business.NOTICES, Business.CLEARING, Business.TASKS);
    private static final long EVERY_MILLIS = 300;

    private final Postrider postrider;
    private final Journal journal;
    private final Random random;
    private final Thread thread;
    private volatile boolean clearing;
    private volatile boolean stopped;

    Operator(Database database, Journal journal, Random random) {
        this.postrider = Business.configured(database.dataSource(), topic -> {}).build();
        this.journal = journal;
        this.random = random;
        this.thread = Parent.daemon("operator", this::work);
    }

    /** From now on only buries parked heads, and replays no dead letter. */
    void clear() {
        clearing = true;
    }

    void stop() throws InterruptedException {
        stopped = true;
        thread.join();
        postrider.close();
    }

    private void work() {
        while (!stopped) {
            try {
                letGoOn();
                disturbHandlers();
                if (!clearing) {
                    mendDeadLetters();
                }
                TimeUnit.MILLISECONDS.sleep(EVERY_MILLIS);
            } catch (PostriderException e) {
                // The database is down, as it is from time to time.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Parked heads: most are buried, some retried. */
    private void letGoOn() {
        Admin admin = postrider.admin();
        for (BlockedKey held : admin.blockedKeys(Business.LEDGER, AT_ONCE)) {
            if (!held.isParked()) {
                continue;
            }
            boolean skip = clearing || random.nextInt(3) > 0;
            String id = held.head().toString();
            if (skip) {
                act(
                        "skip",
                        id,
                        Business.LEDGER,
                        () -> admin.bury(held.topic(), held.tenant(), held.key(), held.head(), NAME));
            } else {
                act("release", id, Business.LEDGER, () -> admin.retry(held.topic(), held.tenant(), held.key(), NAME));
            }
        }
    }

    /** Acts on keys whose head waits for its retry or is being handled at this moment. */
    private void disturbHandlers() {
        Admin admin = postrider.admin();
        for (BlockedKey held : admin.blockedKeys(Business.CLEARING, AT_ONCE)) {
            int lot = random.nextInt(20);
            String id = held.head().toString();
            if (lot == 0) {
                act(
                        "skip",
                        id,
                        Business.CLEARING,
                        () -> admin.bury(held.topic(), held.tenant(), held.key(), held.head(), NAME));
            } else if (lot < 4) {
                act("release", id, Business.CLEARING, () -> admin.retry(held.topic(), held.tenant(), held.key(), NAME));
            }
        }
    }

    private void mendDeadLetters() {
        Admin admin = postrider.admin();
        String topic = TOPICS.get(random.nextInt(TOPICS.size()));
        List<StoredMessage> dead = admin.deadLetters(topic, AT_ONCE);
        for (StoredMessage letter : dead) {
            int lot = random.nextInt(20);
            if (lot < 2) {
                act(
                        "replay",
                        id(letter),
                        topic,
                        () -> admin.replay(letter.message().id(), NAME));
            } else if (lot == 2) {
                act(
                        "discard",
                        id(letter),
                        topic,
                        () -> admin.discard(letter.message().id(), NAME));
            }
        }
    }

    private static String id(StoredMessage letter) {
        return letter.message().id().toString();
    }

    /** Pauses a topic. Afterwards it must be resumed, even if the call failed. */
    void pause(String topic) {
        act("pause", "", topic, () -> {
            postrider.admin().pause(topic, NAME);
            return Repair.DONE;
        });
    }

    void resume(String topic) {
        act("resume", "", topic, () -> {
            postrider.admin().resume(topic, NAME);
            return Repair.DONE;
        });
    }

    /** Records what was done, and what may have been done: the answer can be lost. */
    private void act(String action, String id, String topic, Supplier<Repair> repair) {
        try {
            if (repair.get() == Repair.DONE) {
                journal.write("did", "action", action, "id", id, "topic", topic);
            }
        } catch (PostriderException e) {
            journal.write("did", "action", action, "id", id, "topic", topic, "certain", false);
            throw e;
        }
    }
}
