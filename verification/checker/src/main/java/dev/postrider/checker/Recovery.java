package dev.postrider.checker;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** Recovery times after each kind of fault, and latencies of messages. */
final class Recovery {

    private final Evidence evidence;
    private final History history;
    private final List<String> lines = new ArrayList<>();

    private Recovery(Evidence evidence) {
        this.evidence = evidence;
        this.history = evidence.history;
    }

    static List<String> lines(Evidence evidence) {
        return new Recovery(evidence).lines();
    }

    private List<String> lines() {
        lines.add("| after | until | times | median | longest | target |");
        lines.add("|---|---|---|---|---|---|");
        add("a worker was killed", "its last message in flight came again", redelivered("kill-worker"), lease(2));
        add("a worker was paused", "its last message in flight came again", redelivered("pause-worker"), lease(2));
        add("the database was back", "the first delivery", firstDelivery("crash-database"), "5 s");
        add("a standby had taken its place", "the first delivery", firstDelivery("promote-standby"), "5 s");
        add("the destination was back", "the first delivery", firstDelivery("destination-down"), "10 s");
        add("a worker was told to stop", "it had stopped", stops(), "");
        add("the faults ended", "the last first delivery", drain(), "");
        lines.add("");
        lines.add("| from commit to first delivery | messages | p50 | p90 | p99 | p99.9 | longest |");
        lines.add("|---|---|---|---|---|---|---|");
        Intervals none = Intervals.of(List.of(), any -> true);
        addLatency("all", latency(none, 0));
        addLatency(
                "nothing broken, nor for two leases before",
                latency(Intervals.of(history.faults, any -> true), 2 * evidence.run.lease()));
        return lines;
    }

    private String lease(int seconds) {
        return (evidence.run.lease() / 1_000_000.0 + seconds) + " s";
    }

    private void add(String after, String until, Longs times, String target) {
        Percentiles percentiles = new Percentiles(times);
        lines.add("| " + after + " | " + until + " | " + percentiles.count() + " | " + percentiles.at(0.5) + " | "
                + percentiles.longest() + " | " + target + " |");
    }

    private void addLatency(String name, Longs times) {
        Percentiles percentiles = new Percentiles(times);
        lines.add("| " + name + " | " + percentiles.count() + " | " + percentiles.at(0.5) + " | " + percentiles.at(0.9)
                + " | " + percentiles.at(0.99) + " | " + percentiles.at(0.999) + " | " + percentiles.longest() + " |");
    }

    /** For each fault: the longest time until a message was delivered again that the worker had sent without an outcome. */
    private Longs redelivered(String kind) {
        List<Fault> faults = history.faults.stream()
                .filter(fault -> fault.kind().equals(kind))
                .sorted(Comparator.comparingLong(Fault::from))
                .toList();
        List<List<Integer>> ofWorkers = history.workers.stream()
                .map(worker -> IntStream.range(0, faults.size())
                        .filter(number -> worker.isMeant(faults.get(number).target()))
                        .boxed()
                        .toList())
                .toList();
        Longs latest = new Longs(0);
        for (int row = 0; row < history.sendings.message.size(); row++) {
            int fault = faultOf(faults, ofWorkers.get(history.sendings.worker.get(row)), row);
            if (fault >= 0) {
                long again = nextReceipt(
                        history.sendings.message.get(row), faults.get(fault).from());
                latest.set(
                        fault,
                        Math.max(latest.get(fault), again - faults.get(fault).from()));
            }
        }
        return positive(latest);
    }

    /** The first fault of the worker after the sending, if there is no outcome before it. */
    private int faultOf(List<Fault> faults, List<Integer> ofWorker, int sending) {
        long sent = history.sendings.time.get(sending);
        int low = 0;
        int high = ofWorker.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (faults.get(ofWorker.get(middle)).from() < sent) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low == ofWorker.size()) {
            return -1;
        }
        int first = ofWorker.get(low);
        long from = faults.get(first).from();
        boolean soon = from - sent < 2 * evidence.run.lease();
        return soon && !hasOutcome(sending, sent, from) ? first : -1;
    }

    private boolean hasOutcome(int sending, long begin, long end) {
        return evidence.outcomes()
                .rows(history.sendings.message.get(sending))
                .anyMatch(row -> history.outcomes.worker.get(row) == history.sendings.worker.get(sending)
                        && history.outcomes.time.get(row) >= begin
                        && history.outcomes.time.get(row) <= end);
    }

    private long nextReceipt(int message, long after) {
        return evidence.receipts()
                .rows(message)
                .mapToLong(history.receipts.time::get)
                .filter(time -> time > after)
                .min()
                .orElse(after);
    }

    private Longs firstDelivery(String kind) {
        Longs times = new Longs(0);
        history.faults.stream().filter(fault -> fault.kind().equals(kind)).forEach(fault -> {
            for (int row = 0; row < history.receipts.size(); row++) {
                if (history.receipts.time.get(row) > fault.to()) {
                    times.add(history.receipts.time.get(row) - fault.to());
                    break;
                }
            }
        });
        return times;
    }

    private Longs stops() {
        Longs times = new Longs(0);
        history.workers.stream()
                .filter(worker -> worker.stopped() > 0 && worker.stopping() > 0)
                .forEach(worker -> times.add(worker.stopped() - worker.stopping()));
        return times;
    }

    private Longs drain() {
        Longs times = new Longs(0);
        long last = 0;
        for (int row = 0; row < history.receipts.size(); row++) {
            if (history.receipts.previous.get(row) < 0) {
                last = Math.max(last, history.receipts.time.get(row));
            }
        }
        if (last > evidence.run.faultsEnded()) {
            times.add(last - evidence.run.faultsEnded());
        }
        return times;
    }

    private Longs latency(Intervals broken, long before) {
        Longs times = new Longs(0);
        for (int message = 0; message < history.intents.last.size(); message++) {
            int row = evidence.written(message);
            if (row >= 0
                    && history.intents.deliverAt.get(row) == 0
                    && evidence.receipts().size(message) > 0) {
                long committed = history.transactions.committedAt.get(history.intents.transaction.get(row));
                long came = history.receipts.time.get(evidence.receipts().row(message, 0));
                if (committed > 0 && !broken.touch(committed - before, came)) {
                    times.add(Math.max(0, came - committed));
                }
            }
        }
        return times;
    }

    private static Longs positive(Longs values) {
        Longs positive = new Longs(0);
        for (int row = 0; row < values.size(); row++) {
            if (values.get(row) > 0) {
                positive.add(values.get(row));
            }
        }
        return positive;
    }
}
