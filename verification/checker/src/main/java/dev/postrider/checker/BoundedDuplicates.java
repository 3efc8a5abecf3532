package dev.postrider.checker;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A message is received again only after its answer was lost, after an operator replayed or retried it, or after a fault of a worker
 * or of the database. Each fault may cause at most as many duplicates as messages were in flight on the affected workers. A graceful
 * stop, a cut connection and a lost answer to a commit cause none.
 */
final class BoundedDuplicates implements Invariant {

    /** One worker may not have acknowledged its deliveries. */
    private static final Set<String> OF_A_WORKER = Set.of("kill-worker", "pause-worker", "clock-skew", "clock-step");

    /** No worker may have acknowledged its deliveries. */
    private static final Set<String> OF_ALL = Set.of("crash-database", "promote-standby", "half-open");

    /** These act like a pause if they last long enough for a lease to expire. */
    private static final Set<String> IF_LONG = Set.of("delay", "exhaust-connections");

    @Override
    public String name() {
        return "I6";
    }

    @Override
    public String title() {
        return "bounded duplicates";
    }

    /** A message that was received again, with the two deliveries between which a fault must have happened. */
    private record Again(int message, int before, int after) {}

    private static final class Event {
        final Fault fault;
        final long bound;
        long used;

        Event(Fault fault, long bound) {
            this.fault = fault;
            this.bound = bound;
        }
    }

    @Override
    public Verdict judge(Evidence evidence) {
        History history = evidence.history;
        List<Event> events = events(evidence);
        Findings findings = new Findings();
        List<Again> again = again(evidence);
        int excused = 0;
        for (Again duplicate : again) {
            Event event = findEvent(evidence, events, duplicate);
            if (event != null) {
                event.used++;
            } else {
                findings.add(() -> describe(history, duplicate));
            }
            excused += event == null ? 0 : 1;
        }
        long bound = events.stream().mapToLong(event -> event.bound).sum();
        return findings.verdict(
                history.receipts.size(),
                "deliveries, " + excused + " of them duplicates by faults, of at most " + bound + " by " + events.size()
                        + " faults");
    }

    /** Duplicates in the order of their deliveries, so that each uses the first fault that still has room. */
    private static List<Again> again(Evidence evidence) {
        History history = evidence.history;
        List<Again> again = new ArrayList<>();
        for (int message = 0; message < history.messages.size(); message++) {
            int taken = -1;
            for (int place = 0; place < evidence.receipts().size(message); place++) {
                int row = evidence.receipts().row(message, place);
                if (taken >= 0 && !isExcused(evidence, message, taken, row)) {
                    again.add(new Again(message, taken, row));
                }
                boolean has = taken >= 0 || history.receipts.result(row).isTaken();
                taken = has ? row : -1;
            }
        }
        again.sort(Comparator.comparingInt(Again::after));
        return again;
    }

    /** Whether the previous answer was lost, came too late or was negative, or an operator replayed or retried the message. */
    private static boolean isExcused(Evidence evidence, int message, int before, int after) {
        Receipts receipts = evidence.history.receipts;
        Result result = receipts.result(before);
        return result.isAnswerLost()
                || !result.isTaken()
                || receipts.givenUp.get(before) <= receipts.time.get(after)
                || evidence.actions(message).stream()
                        .anyMatch(action ->
                                (action.name().equals("replay") || action.name().equals("release"))
                                        && action.time() >= receipts.time.get(before)
                                        && action.time() - evidence.run.lease() <= receipts.time.get(after));
    }

    private static List<Event> events(Evidence evidence) {
        Run run = evidence.run;
        List<Event> events = new ArrayList<>();
        for (Fault fault : evidence.history.faults) {
            if (OF_A_WORKER.contains(fault.kind())) {
                events.add(new Event(fault, run.inFlight()));
            } else if (OF_ALL.contains(fault.kind())
                    || (IF_LONG.contains(fault.kind()) && fault.to() - fault.from() >= run.lease() / 2)) {
                events.add(new Event(fault, (long) run.workers() * run.inFlight()));
            }
        }
        events.sort(Comparator.comparingLong(event -> event.fault.to()));
        return events;
    }

    /** A message may still be on its way to the receiver, or its lease may be valid, for a while after the fault. */
    private static @Nullable Event findEvent(Evidence evidence, List<Event> events, Again duplicate) {
        Receipts receipts = evidence.history.receipts;
        long begin = receipts.time.get(duplicate.before()) - evidence.run.lease();
        long end = Math.min(receipts.time.get(duplicate.after()), acknowledged(evidence, duplicate));
        for (Event event : events) {
            if (event.used < event.bound && event.fault.overlaps(begin, end) && isTouched(evidence, event, duplicate)) {
                return event;
            }
        }
        return null;
    }

    /** The time of the acknowledgement. An acknowledged message must not be received again, whatever happens later. */
    private static long acknowledged(Evidence evidence, Again duplicate) {
        Outcomes outcomes = evidence.history.outcomes;
        long delivered = evidence.history.receipts.time.get(duplicate.before());
        return evidence.outcomes()
                .rows(duplicate.message())
                .filter(row -> outcomes.kind(row) == Outcomes.Kind.ACKNOWLEDGED)
                .mapToLong(outcomes.time::get)
                .filter(time -> time >= delivered)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private static boolean isTouched(Evidence evidence, Event event, Again duplicate) {
        History history = evidence.history;
        return !OF_A_WORKER.contains(event.fault.kind())
                || evidence.isMeant(event.fault, history.names.get(history.receipts.worker.get(duplicate.before())))
                || evidence.isMeant(event.fault, history.names.get(history.receipts.worker.get(duplicate.after())));
    }

    private static String describe(History history, Again duplicate) {
        Receipts receipts = history.receipts;
        return "message " + history.show(duplicate.message()) + " came from "
                + history.names.get(receipts.worker.get(duplicate.before())) + " and "
                + (receipts.time.get(duplicate.after()) - receipts.time.get(duplicate.before())) / 1000
                + " ms later from " + history.names.get(receipts.worker.get(duplicate.after()))
                + ", and no fault that has room for it explains that";
    }
}
