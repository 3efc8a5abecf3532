package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.transport.DeliveryResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random interleavings of writing, reading, answers, failures, slow leases and outcomes, against a small model of a lane: within
 * a key nothing overtakes, and in the end everything is delivered.
 */
final class SequencerPropertyTest {

    private static final int RUNS = 1000;
    private static final int STEPS = 150;

    @Test
    void nothingOvertakesWithinAKeyWhateverHappensWhen() {
        long base = Long.getLong("postrider.seed", 20_261_115L);
        for (int run = 0; run < RUNS; run++) {
            long seed = base + run;
            try {
                new Run(seed).play();
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + " (-Dpostrider.seed=" + seed + "): " + e.getMessage(), e);
            }
        }
    }

    private static final class Run {

        private final Random random;
        private final LaneRig rig;
        private final ModelLane model;
        private final Map<String, List<Long>> written = new HashMap<>();
        private final Set<Long> finished = new HashSet<>();
        private int checked;
        private boolean reading;
        private boolean writing;
        private boolean draining;

        Run(long seed) {
            random = new Random(seed);
            rig = new LaneRig(1 + random.nextInt(6));
            model = new ModelLane(rig.take(), rig.time);
            rig.settle = this::settle;
        }

        void play() {
            for (int step = 0; step < STEPS; step++) {
                step();
            }
            draining = true;
            for (int round = 0; !model.isEmpty(); round++) {
                assertThat(round)
                        .as("rounds until all are delivered: %s", model)
                        .isLessThan(500);
                renew();
                pass(3000);
                look();
                answerAll();
                write();
            }
            write();
            checkSent();
            assertThat(rig.inFlight.count()).isZero();
            assertThat(rig.inFlight.freeSlots(rig.topic)).isPositive();
        }

        private void step() {
            switch (random.nextInt(9)) {
                case 0, 1 -> writeMessages();
                case 2, 3 -> look();
                case 4, 5, 6 -> interrupt();
                case 7 -> pass(random.nextInt(12_000));
                default -> renew();
            }
        }

        /** What other threads may do at any time. */
        private void interrupt() {
            switch (random.nextInt(4)) {
                case 0 -> write();
                case 1 -> pass(random.nextInt(3000));
                default -> answer();
            }
            checkSent();
        }

        private void writeMessages() {
            for (int i = random.nextInt(4); i >= 0; i--) {
                String key = "k" + random.nextInt(3);
                long seq = model.write(key);
                written.computeIfAbsent(key, absent -> new ArrayList<>()).add(seq);
            }
        }

        /** As the claim loop does: what is due, then what is next; the others do not wait for it. */
        private void look() {
            if (reading) {
                return;
            }
            reading = true;
            rig.sequencer.beginRead();
            if (!rig.sequencer.freeCapacity().isEmpty()) {
                if (draining || random.nextBoolean()) {
                    List<LaneClaim> timed = model.readTimed();
                    sometimesInterrupt();
                    rig.offer(timed);
                }
                List<LaneClaim> next = model.read(1 + random.nextInt(5));
                sometimesInterrupt();
                rig.offer(next);
            }
            rig.sequencer.endRead();
            reading = false;
            checkSent();
        }

        private void sometimesInterrupt() {
            while (!draining && random.nextInt(3) > 0) {
                interrupt();
            }
        }

        private void answer() {
            if (!rig.open.isEmpty()) {
                List<MessageId> open = List.copyOf(rig.open.keySet());
                answer(open.get(random.nextInt(open.size())));
            }
        }

        private void answerAll() {
            while (!rig.open.isEmpty()) {
                answer(rig.open.keySet().iterator().next());
                checkSent();
            }
        }

        private void answer(MessageId id) {
            checkSent();
            DeliveryResult result = DeliveryResult.delivered();
            int luck = draining ? 9 : random.nextInt(10);
            if (luck < 3) {
                result = DeliveryResult.failed("busy");
            } else if (luck == 3) {
                result = DeliveryResult.rejected("no");
            }
            if (luck >= 3) {
                finished.add(model.seqOf(id));
            }
            var answer = rig.open.remove(id);
            if (answer != null) {
                answer.complete(result);
            }
        }

        private void write() {
            if (!writing) {
                writing = true;
                rig.write();
                writing = false;
            }
        }

        /** Between the writing and the news of it there may be a look, too. */
        private List<Settlement> settle(List<LaneOutcome> outcomes) {
            List<Settlement> settlements = model.settle(outcomes);
            if (!draining && random.nextInt(3) == 0) {
                look();
            }
            return settlements;
        }

        private void pass(int millis) {
            rig.time.pass(java.time.Duration.ofMillis(millis));
        }

        private void renew() {
            rig.sequencer.renewed(model.lane, LeaseValidity.Stamp.now(rig.time));
        }

        /** Everything before it in its key is done with when a message is sent. */
        private void checkSent() {
            for (; checked < rig.sent.size(); checked++) {
                Message message = rig.sent.get(checked);
                long seq = model.seqOf(message.id());
                for (long earlier : written.getOrDefault(String.valueOf(message.key()), List.of())) {
                    if (earlier < seq) {
                        assertThat(finished)
                                .as("before %s of %s is sent", seq, message.key())
                                .contains(earlier);
                    }
                }
            }
        }
    }

    /** What a store does with one lane. */
    private static final class ModelLane {

        private enum State {
            PENDING,
            RETRY,
            BLOCKED
        }

        private static final class Row {
            final long seq;
            final Message message;
            State state = State.PENDING;
            int attempts;
            long dueNanos;
            boolean inFlight;
            LaneClaim.Place place = LaneClaim.Place.IN_ORDER;

            Row(long seq, Message message) {
                this.seq = seq;
                this.message = message;
            }

            boolean isWaiting() {
                return state != State.PENDING;
            }

            @Override
            public String toString() {
                return seq + " " + message.key() + " " + state + (inFlight ? " in flight" : "");
            }
        }

        final Lane lane;
        private final ManualTime time;
        private final List<Row> rows = new ArrayList<>();
        private final Map<MessageId, Long> numbers = new HashMap<>();
        private long lastNumber;

        ModelLane(Lane lane, ManualTime time) {
            this.lane = lane;
            this.time = time;
        }

        long write(String key) {
            Row row = new Row(++lastNumber, LaneRig.message(key, (int) lastNumber));
            rows.add(row);
            numbers.put(row.message.id(), row.seq);
            return row.seq;
        }

        long seqOf(MessageId id) {
            return numbers.getOrDefault(id, 0L);
        }

        boolean isEmpty() {
            return rows.isEmpty();
        }

        List<LaneClaim> read(int room) {
            List<LaneClaim> claims = new ArrayList<>();
            for (Row row : rows) {
                if (!row.isWaiting() && !row.inFlight && claims.size() < room) {
                    claims.add(take(row, LaneClaim.Place.IN_ORDER));
                }
            }
            return claims;
        }

        List<LaneClaim> readTimed() {
            List<LaneClaim> claims = new ArrayList<>();
            Set<String> seen = new HashSet<>();
            Set<String> taking = new HashSet<>();
            for (Row row : rows) {
                String key = String.valueOf(row.message.key());
                if (!row.isWaiting()) {
                    continue;
                }
                boolean first = seen.add(key);
                if (first && row.state == State.RETRY && row.dueNanos - time.nanos() <= 0 && !row.inFlight) {
                    taking.add(key);
                }
                if (row.inFlight) {
                    taking.remove(key);
                }
                if (taking.contains(key)) {
                    claims.add(take(row, LaneClaim.Place.IN_BLOCKED_KEY));
                }
            }
            return claims;
        }

        private LaneClaim take(Row row, LaneClaim.Place place) {
            row.inFlight = true;
            row.place = place;
            return LaneRig.claim(lane, row.seq, row.message, place, row.attempts + 1);
        }

        /** In the steps of the store: what leaves the order, what joins, what is done, what failed again. */
        List<Settlement> settle(List<LaneOutcome> outcomes) {
            Map<Long, Boolean> keyBlocked = new HashMap<>();
            for (int step = 0; step < 4; step++) {
                for (LaneOutcome outcome : outcomes) {
                    Row row = find(outcome.claim().seq());
                    if (row != null && stepOf(row, outcome) == step) {
                        keyBlocked.put(row.seq, apply(row, outcome));
                    }
                }
            }
            outcomes.forEach(outcome -> {
                Row row = find(outcome.claim().seq());
                if (row != null) {
                    row.inFlight = false;
                }
            });
            return outcomes.stream()
                    .<Settlement>map(outcome -> new Settlement.Settled(
                            outcome.claim(),
                            keyBlocked.getOrDefault(outcome.claim().seq(), false)))
                    .toList();
        }

        private static int stepOf(Row row, LaneOutcome outcome) {
            boolean waiting = row.place == LaneClaim.Place.IN_BLOCKED_KEY;
            if (outcome instanceof Outcome.Retry) {
                return waiting ? 3 : 0;
            }
            if (outcome instanceof LaneOutcome.Blocked) {
                return 1;
            }
            return outcome instanceof Outcome.Released ? 4 : 2;
        }

        private boolean apply(Row row, LaneOutcome outcome) {
            if (outcome instanceof Outcome.Retry retry) {
                row.state = State.RETRY;
                row.attempts = retry.claim().attempt();
                row.dueNanos = time.nanos() + retry.delay().toNanos();
                return true;
            }
            Row head = rows.stream()
                    .filter(other -> other != row && other.isWaiting() && sameKey(other, row))
                    .findFirst()
                    .orElse(null);
            if (outcome instanceof LaneOutcome.Blocked) {
                boolean behind = head != null && head.seq < row.seq;
                row.state = behind ? State.BLOCKED : State.RETRY;
                row.dueNanos = time.nanos();
                return behind;
            }
            rows.remove(row);
            if (row.place != LaneClaim.Place.IN_BLOCKED_KEY || head == null) {
                return false;
            }
            if (head.state == State.BLOCKED) {
                head.state = State.RETRY;
                head.dueNanos = time.nanos();
            }
            return true;
        }

        private static boolean sameKey(Row one, Row other) {
            return String.valueOf(one.message.key()).equals(other.message.key());
        }

        private @Nullable Row find(long seq) {
            return rows.stream().filter(row -> row.seq == seq).findFirst().orElse(null);
        }

        @Override
        public String toString() {
            return rows.toString();
        }
    }
}
