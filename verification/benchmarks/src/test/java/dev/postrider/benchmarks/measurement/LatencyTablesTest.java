package dev.postrider.benchmarks.measurement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.benchmarks.database.Probe;
import dev.postrider.benchmarks.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the tables of a latency say about slow messages. */
final class LatencyTablesTest {

    private static final long MILLI = 1_000_000;

    private static final Stalls NONE = new Stalls(List.of(), List.of());

    @Test
    void stagesAddUpToTheLatency() {
        TracedMessage message = message(0, 5, 6, 8, 20);

        assertThat(message.deliveryMillis()).isEqualTo(8);
        assertThat(message.millis(TracedMessage.Stage.READ)).isEqualTo(5);
        assertThat(message.millis(TracedMessage.Stage.CALL)).isEqualTo(1);
        assertThat(message.millis(TracedMessage.Stage.RECEIVE)).isEqualTo(2);
        assertThat(message.millis(TracedMessage.Stage.OUTCOME)).isEqualTo(12);
    }

    @Test
    void handedOverMessageReadsNothing() {
        TracedMessage message = message(10, 4, 11, 12, 20);

        assertThat(message.millis(TracedMessage.Stage.READ)).isZero();
        assertThat(message.millis(TracedMessage.Stage.CALL)).isEqualTo(1);
        assertThat(message.deliveryMillis()).isEqualTo(2);
    }

    @Test
    void slowMessageIsStalledWhenTheControlStoodStillForHalfOfItsTime() {
        TracedMessage slow = message(0, 60, 61, 67, 70);

        assertThat(slow.isStalled(new Stalls(List.of(span(20, 60)), List.of()))).isTrue();
        assertThat(slow.isStalled(new Stalls(List.of(), List.of(span(1, 50))))).isTrue();
        assertThat(slow.isStalled(new Stalls(List.of(span(40, 60)), List.of()))).isFalse();
        assertThat(slow.isStalled(new Stalls(List.of(span(67, 200)), List.of())))
                .isFalse();
    }

    @Test
    void tablesShowStagesOfSystemsThatHaveThem() {
        List<TracedMessage> messages = new ArrayList<>();
        for (int i = 0; i < 199; i++) {
            messages.add(message(i, i, i, i + 1, i + 2));
        }
        messages.add(message(0, 60, 61, 67, 70));
        Latencies ours = new Latencies(messages, new Stalls(List.of(span(10, 60)), List.of()), "idle", 0);
        Latencies theirs = new Latencies(
                List.of(new TracedMessage(new Probe.Commit(0, MILLI), false, 0, 0, 2 * MILLI, 0)), NONE, "idle", 0);

        List<Table> tables = LatencyTables.of(Map.of("postrider", List.of(ours), "db-scheduler", List.of(theirs)));

        assertThat(tables.get(0).rows())
                .contains(
                        List.of("postrider", "commit to receiver", "1.00", "1.00", "67.0"),
                        List.of("db-scheduler", "commit to receiver", "1.00", "1.00", "1.00"))
                .noneMatch(row -> row.contains("db-scheduler") && row.contains("outcome written"));
        assertThat(tables.get(1).rows())
                .contains(List.of("postrider", "commit to receiver", "", "", "", "199", "", "", "1", ""));
        assertThat(tables.get(3).rows()).anySatisfy(row -> assertThat(row).contains("67.0", "50.0", "yes"));
    }

    private static Stalls.Span span(long from, long to) {
        return new Stalls.Span(from * MILLI, to * MILLI);
    }

    private static TracedMessage message(long committed, long read, long called, long received, long written) {
        return new TracedMessage(
                new Probe.Commit((committed - 1) * MILLI, committed * MILLI),
                true,
                read * MILLI,
                called * MILLI,
                received * MILLI,
                written * MILLI);
    }
}
