package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Chart;
import dev.postrider.benchmarks.report.Figure;
import dev.postrider.benchmarks.report.Missing;
import dev.postrider.benchmarks.report.Result;
import dev.postrider.benchmarks.report.Samples;
import dev.postrider.benchmarks.report.Series;
import dev.postrider.benchmarks.report.Table;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The raw figures of one question, from which ratios are computed: those of the first series decide. */
record Comparison(Chart chart) {

    private static final double NEARLY = 0.9;

    /** A comparison of one thing that is better when there is less of it. */
    static Comparison ofLess(String question, String unit, Map<String, Samples> systems, List<String> notes) {
        return new Comparison(new Chart(question, List.of(Series.ofLess(unit, systems)), notes));
    }

    /** The same, with tables of details. */
    static Comparison ofLess(
            String question, String unit, Map<String, Samples> systems, List<String> notes, List<Table> tables) {
        return new Comparison(new Chart(question, List.of(Series.ofLess(unit, systems)), notes, tables));
    }

    /** A comparison of rates alone: where the question is whether something else slows a system down. */
    static Comparison ofRates(String question, String unit, Map<String, Samples> systems, List<String> notes) {
        return new Comparison(new Chart(question, List.of(Series.ofMore(unit, systems)), notes));
    }

    /**
     * A comparison of work. The processor time of each item decides, because other load on the computer disturbs it less than the
     * rate, which is shown beside it. Where it cannot be read, the rate decides.
     *
     * @param item one message, transaction or command
     */
    static Comparison ofWork(String question, String item, Scale scale, Rounds<Performance> rounds, List<String> more) {
        List<String> notes = new ArrayList<>(rounds.notes());
        notes.addAll(more);
        rounds.samples(Performance::seconds).forEach((system, seconds) -> {
            if (seconds.min() < NEARLY * scale.roundSeconds()) {
                notes.add(String.format(Locale.ROOT, "The shortest round of %s took %.1f s", system, seconds.min()));
            }
        });
        Series rates = Series.ofMore(item + "s/s", rounds.samples(Performance::perSecond));
        if (rounds.results().map(Performance::perItem).anyMatch(Objects::isNull)) {
            notes.add("The rates decide, since the processor time of the server cannot be read");
            return new Comparison(new Chart(question, List.of(rates), notes));
        }
        Series time = Series.ofLess(
                "µs of processor time/" + item,
                rounds.samples(Performance::micros),
                rounds.samples(Performance::clientMicros));
        return new Comparison(new Chart(question, List.of(time, rates), notes));
    }

    /** The ratio to Postrider itself under another condition. */
    Result ratioToItself(String name, Aim aim, String ours, String against) {
        return figure(name, Figure.Rival.ITSELF, aim, ours, against);
    }

    /** The ratio to a loop or transaction written by hand. */
    Result ratioToHand(String name, Aim aim, String ours, String against) {
        return figure(name, Figure.Rival.HAND_WRITTEN, aim, ours, against);
    }

    Result ratioToPeer(String name, Aim aim, String ours, Peer peer) {
        return figure(name, Figure.Rival.OTHER_LIBRARY, aim, ours, peer.displayName());
    }

    /** The ratio to the best peer: the one with the best median. */
    Result ratioToBestPeer(String name, Aim aim, String ours) {
        Series decisive = chart.decisive();
        Comparator<Peer> byMedian = Comparator.comparingDouble(
                peer -> samples(decisive, peer.displayName()).median());
        @Nullable
        Peer best = Arrays.stream(Peer.values())
                .filter(peer -> decisive.systems().containsKey(peer.displayName()))
                .max(decisive.lessIsBetter() ? byMedian.reversed() : byMedian)
                .orElse(null);
        return best == null
                ? new Missing(name, "no peer was measured: " + chart.notes())
                : ratioToPeer(name, aim, ours, best);
    }

    /** A value that is compared only with its aim. */
    Result itself(String name, Aim aim, String ours, String per) {
        return isMeasured(ours)
                ? new Figure(name, Figure.Rival.NONE, aim, samples(chart.decisive(), ours), ours, per, null, chart)
                : missing(name, ours);
    }

    private Result figure(String name, Figure.Rival rival, Aim aim, String ours, String against) {
        if (!isMeasured(ours) || !isMeasured(against)) {
            return missing(name, isMeasured(ours) ? against : ours);
        }
        return new Figure(
                name,
                rival,
                aim,
                ratio(chart.decisive(), aim, ours, against),
                ours,
                against,
                byRate(aim, ours, against),
                chart);
    }

    private boolean isMeasured(String system) {
        return chart.decisive().systems().containsKey(system);
    }

    private Missing missing(String name, String system) {
        return new Missing(name, system + " was not measured: " + chart.notes());
    }

    private @Nullable Samples byRate(Aim aim, String ours, String against) {
        return chart.series().size() < 2 ? null : ratio(chart.series().get(1), aim, ours, against);
    }

    /** Round by round. An aim that is a minimum wants a ratio that rises when ours gets better, whatever is measured. */
    private Samples ratio(Series series, Aim aim, String ours, String against) {
        Samples mine = samples(series, ours);
        Samples other = samples(series, against);
        return aim.isMinimum() == series.lessIsBetter()
                ? other.combine(mine, (theirs, own) -> theirs / own)
                : mine.combine(other, (own, theirs) -> own / theirs);
    }

    private Samples samples(Series series, String system) {
        Samples samples = series.systems().get(system);
        if (samples == null) {
            throw new IllegalStateException(system + " was not measured: " + chart.notes());
        }
        return samples;
    }
}
