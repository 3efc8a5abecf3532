package dev.postrider.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.jdbc.Mistake;
import dev.postrider.jdbc.SimulatedStores;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A judge who never found anybody guilty is no evidence: each broken rule is noticed, and how soon is printed. */
final class MistakeTest {

    private static final boolean FULL = Boolean.getBoolean("postrider.full");
    private static final int MOST_SEEDS = FULL ? 5000 : 30;

    @ParameterizedTest
    @EnumSource
    @Execution(ExecutionMode.CONCURRENT)
    void brokenRuleIsNoticed(Mistake mistake) {
        Simulation.Run noticed = null;
        for (long seed = 1; noticed == null && seed <= MOST_SEEDS; seed++) {
            Simulation.Run run = Simulation.of(seed, mistake, false);
            boolean isForThis = !run.isGood()
                    && Simulation.of(seed, SimulatedStores.Speech.RIGHT, false).isGood();
            noticed = isForThis ? run : null;
        }

        if (noticed == null && !FULL) {
            String notice = "NOT RUN: " + mistake + " after seed " + MOST_SEEDS
                    + "; ./mvnw verify -Pfull goes on until it is noticed";
            System.err.println(notice);
            Assumptions.abort(notice);
        }
        assertThat(noticed).as(mistake + " in " + MOST_SEEDS + " runs").isNotNull();
        System.out.println(mistake + " noticed in run " + noticed.seed() + ": "
                + noticed.violations().get(0));
    }
}
