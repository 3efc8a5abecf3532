package dev.postrider.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ScheduleTest {

    private static final int QUARTER_HOUR = 900;
    private static final Set<FaultKind> ALL = EnumSet.allOf(FaultKind.class);

    @Test
    void sameSeedMakesTheSameSchedule() {
        assertThat(Schedule.of(42, QUARTER_HOUR, ALL)).isEqualTo(Schedule.of(42, QUARTER_HOUR, ALL));
        assertThat(Schedule.of(43, QUARTER_HOUR, ALL)).isNotEqualTo(Schedule.of(42, QUARTER_HOUR, ALL));
    }

    @Test
    void everythingIsBrokenAtLeastOnceHoweverShortTheRun() {
        Set<FaultKind> kinds = EnumSet.noneOf(FaultKind.class);
        Schedule.of(1, 60, ALL).faults().forEach(fault -> kinds.add(fault.kind()));

        assertThat(kinds).containsExactlyInAnyOrder(FaultKind.values());
    }

    @Test
    void nothingElseIsBrokenThanWhatIsAskedFor() {
        assertThat(Schedule.of(1, 60, Set.of(FaultKind.CUT)).faults())
                .isNotEmpty()
                .allSatisfy(fault -> assertThat(fault.kind()).isEqualTo(FaultKind.CUT));
        assertThat(Schedule.of(1, 60, Set.of()).faults()).isEmpty();
    }

    @Test
    void longRunKillsAWorkerEveryFiveSeconds() {
        assertThat(Schedule.of(1, QUARTER_HOUR, ALL).faults())
                .filteredOn(fault -> fault.kind() == FaultKind.KILL_WORKER)
                .hasSize(180);
    }

    @Test
    void faultsComeInOrderAndEndBeforeTheRunDoes() {
        Schedule schedule = Schedule.of(7, 75, ALL);

        assertThat(schedule.faults()).isSortedAccordingTo((a, b) -> Integer.compare(a.atMillis(), b.atMillis()));
        assertThat(schedule.faults())
                .allSatisfy(fault ->
                        assertThat(fault.atMillis() + fault.lengthMillis()).isBetween(1, 75_000));
    }

    @Test
    void pausedWorkerStandsStillForLongerThanItsLease() {
        assertThat(Schedule.of(7, QUARTER_HOUR, ALL).faults())
                .filteredOn(fault -> fault.kind() == FaultKind.PAUSE_WORKER)
                .allSatisfy(fault -> assertThat((long) fault.lengthMillis())
                        .isBetween(
                                Pace.HURRIED.lease().toMillis() * 3 / 2,
                                Pace.HURRIED.lease().toMillis() * 3));
    }
}
