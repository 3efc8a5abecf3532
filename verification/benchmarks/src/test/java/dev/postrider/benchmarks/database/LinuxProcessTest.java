package dev.postrider.benchmarks.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class LinuxProcessTest {

    @Test
    void timesAreReadBehindNameWithSpacesAndParentheses() {
        String stat = "812 (a (strange) name) S 7 812 812 0 -1 4194560 2443 90 0 0 110 40 3000 200 20 0 1 0 57673 1 1";

        assertThat(LinuxProcess.parse(stat)).isEqualTo(new LinuxProcess(7, 150, 3200));
    }

    @Test
    void endedChildCountsForItsParent() throws Exception {
        assumeThat(LinuxProcess.isReadable()).isTrue();
        Process parent = new ProcessBuilder(
                        "sh", "-c", "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; read end")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            LinuxProcess process = LinuxProcess.of(parent.pid());
            while (process != null && process.reaped() == 0) { // the test's own limit ends it otherwise
                Thread.onSpinWait();
                process = LinuxProcess.of(parent.pid());
            }
            assertThat(process).isNotNull();
            assertThat(LinuxProcess.familyTicks(parent.pid())).isPositive();
        } finally {
            parent.destroyForcibly();
        }
    }

    @Test
    void processThatHasEndedIsNone() {
        assertThat(LinuxProcess.of(Long.MAX_VALUE)).isNull();
        assertThat(LinuxProcess.nameOf(Long.MAX_VALUE)).isEmpty();
        assertThat(LinuxProcess.ticks(List.of())).isZero();
    }

    @Test
    void timeBelowOneTickCountsAsOne() {
        ProcessorTime used = new ProcessorTime(500_000, 20_000).minus(new ProcessorTime(100_000, 20_000));

        assertThat(used.per(100)).isEqualTo(new ProcessorTime(4_000, 100));
    }

    @Test
    void loadOfTheMachineIsSharedAmongThisRunOthersAndTheHost() {
        MachineLoad before = MachineLoad.parse("cpu  100 0 100 800 0 0 0 0 0 0", 50);
        MachineLoad after = MachineLoad.parse("cpu  160 0 120 890 10 0 0 20 0 0", 90);

        assertThat(after.since(before))
                .isEqualTo("20 % by this run, 20 % by other processes, 10 % taken by the host of the machine");
        assertThat(after.since(after)).isEqualTo("unknown");
    }
}
