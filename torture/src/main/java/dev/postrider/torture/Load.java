package dev.postrider.torture;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** What is written: which keys, how large, what of it twice. One thread. */
final class Load {

    private static final Zipf KEYS = new Zipf(Business.KEYS);
    private static final int REMEMBERED = 500;

    private final List<String> topics;
    private final Random random;
    private final String name;
    private final Draft[] used = new Draft[REMEMBERED];
    private int uses;
    private boolean nothingScheduled;

    /** @param topics to be chosen from, those that come twice twice as often */
    Load(String name, List<String> topics, Random random) {
        this.name = name;
        this.topics = topics;
        this.random = random;
    }

    /** From now on everything is due at once. */
    void scheduleNothing() {
        nothingScheduled = true;
    }

    Draft next() {
        boolean again = uses > 0 && random.nextInt(100) < 5;
        boolean keyed = random.nextInt(100) < 30;
        Draft fresh = draft(keyed);
        if (again) {
            Draft earlier = used[random.nextInt(Math.min(uses, REMEMBERED))];
            return new Draft(
                    earlier.topic(), earlier.tenant(), earlier.key(), earlier.dedup(), null, false, fresh.size());
        }
        if (keyed) {
            used[uses++ % REMEMBERED] = fresh;
        }
        return fresh;
    }

    private Draft draft(boolean keyed) {
        int rank = KEYS.next(random);
        String topic = topics.get(random.nextInt(topics.size()));
        String dedup = keyed ? name + "-" + Long.toString(random.nextLong(), 36) : null;
        boolean poison = random.nextInt(100) == 0;
        return new Draft(topic, Business.tenant(rank), Business.key(topic, rank), dedup, deliverAt(), poison, size());
    }

    /** By the machine's clock, also where this process has been given another: an hour ahead is after the end of the run. */
    private @Nullable Instant deliverAt() {
        boolean later = random.nextInt(100) < 2;
        int millis = 500 + random.nextInt(9500);
        return later && !nothingScheduled
                ? Instant.EPOCH.plus(Journal.now(), ChronoUnit.MICROS).plusMillis(millis)
                : null;
    }

    /** Mostly some hundred bytes; one in a hundred up to the limit, one in ten thousand at it. */
    private int size() {
        int kind = random.nextInt(10_000);
        if (kind == 0) {
            return Business.MAX_PAYLOAD;
        }
        int most = kind < 100 ? Business.MAX_PAYLOAD : kind < 1000 ? 5000 : 500;
        return 100 + random.nextInt(most - 100);
    }
}
