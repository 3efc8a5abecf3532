package dev.postrider.torture;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Chooses the messages to write: their keys, sizes, types and repeated idempotency keys. One thread. */
final class Load {

    private static final Zipf KEYS = new Zipf(Business.KEYS);
    private static final int REMEMBERED = 500;
    private static final int TROUBLED_PERCENT = 4;

    /** Types that hang in a statement are the rarest, since they are retried. */
    private static final List<String> MISBEHAVING =
            List.of(Business.SLOW, Business.SLOW, Business.SLOW, Business.LOCKED, Business.LOCKED, Business.STUCK);

    private final List<String> topics;
    private final Random random;
    private final String name;
    private final Draft[] used = new Draft[REMEMBERED];
    private int uses;
    private boolean nothingScheduled;
    private @Nullable Duration pause;
    private long misbehaved = System.nanoTime();
    private @Nullable Draft next;

    /** @param topics the topics to choose from; a topic that is listed twice is chosen twice as often */
    Load(String name, List<String> topics, Random random) {
        this.name = name;
        this.topics = topics;
        this.random = random;
    }

    /** Sends a small share of the messages to the topics that misbehave. */
    Load withTrouble(Duration lease) {
        pause = lease.multipliedBy(2);
        return this;
    }

    /** From now on all messages are due at once and no handler misbehaves, so that the run can end. */
    void scheduleNothing() {
        nothingScheduled = true;
    }

    Draft next() {
        Draft behind = next;
        if (behind != null) {
            next = null;
            return behind;
        }
        boolean again = uses > 0 && random.nextInt(100) < 5;
        boolean keyed = random.nextInt(100) < 30;
        Draft fresh = draft(keyed);
        if (again) {
            Draft earlier = used[random.nextInt(Math.min(uses, REMEMBERED))];
            return new Draft(
                    earlier.topic(),
                    earlier.tenant(),
                    earlier.key(),
                    earlier.dedup(),
                    null,
                    Business.PLAIN,
                    fresh.size());
        }
        if (keyed) {
            used[uses++ % REMEMBERED] = fresh;
        }
        return fresh;
    }

    private Draft draft(boolean keyed) {
        int rank = KEYS.next(random);
        if (pause != null && random.nextInt(100) < TROUBLED_PERCENT) {
            return troubled(rank);
        }
        String topic = topics.get(random.nextInt(topics.size()));
        String dedup = keyed ? name + "-" + Long.toString(random.nextLong(), 36) : null;
        String type = random.nextInt(100) == 0 ? Business.POISON : Business.PLAIN;
        return new Draft(topic, Business.tenant(rank), Business.key(topic, rank), dedup, deliverAt(), type, size());
    }

    /** One in ten is large and goes to a transport that blocks. */
    private Draft troubled(int rank) {
        boolean bulk = random.nextInt(10) == 0;
        String topic = bulk ? Business.BULK : random.nextBoolean() ? Business.CLEARING : Business.TASKS;
        int size = 100 + random.nextInt(bulk ? Business.MAX_BULK_PAYLOAD - 100 : 500);
        String type = bulk ? bulkType() : handledType();
        Draft draft = new Draft(topic, Business.tenant(rank), Business.key(topic, rank), null, null, type, size);
        if (!topic.equals(Business.CLEARING) || !MISBEHAVING.contains(type)) {
            return draft;
        }
        // A failing message comes first in the key, and is buried while the handler of this one runs.
        next = draft;
        return new Draft(topic, draft.tenant(), draft.key(), null, null, Business.FAILING, size);
    }

    private String bulkType() {
        return !nothingScheduled && random.nextInt(10) == 0 ? Business.SLOW : Business.PLAIN;
    }

    /** Handlers that take longer than a lease occupy a thread for that time. Their number is therefore limited, whatever the rate. */
    private String handledType() {
        if (nothingScheduled) {
            return Business.PLAIN;
        }
        if (pause != null && System.nanoTime() - misbehaved > pause.toNanos()) {
            misbehaved = System.nanoTime();
            return MISBEHAVING.get(random.nextInt(MISBEHAVING.size()));
        }
        return random.nextInt(20) == 0 ? Business.FAILING : Business.PLAIN;
    }

    /** By the real clock, even if this process's clock is set wrong: an hour ahead would be after the end of the run. */
    private @Nullable Instant deliverAt() {
        boolean later = random.nextInt(100) < 2;
        int millis = 500 + random.nextInt(9500);
        return later && !nothingScheduled
                ? Instant.EPOCH.plus(Journal.now(), ChronoUnit.MICROS).plusMillis(millis)
                : null;
    }

    /** Mostly some hundred bytes. One in a hundred up to the limit, one in ten thousand exactly at the limit. */
    private int size() {
        int kind = random.nextInt(10_000);
        if (kind == 0) {
            return Business.MAX_PAYLOAD;
        }
        int most = kind < 100 ? Business.MAX_PAYLOAD : kind < 1000 ? 5000 : 500;
        return 100 + random.nextInt(most - 100);
    }
}
