package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.admin.Action;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Operation;
import dev.postrider.admin.OperationState;
import dev.postrider.admin.OperationTerms;
import dev.postrider.internal.store.OperationStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.MessageStore;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

/** Processes that are killed in a step of a background operation. Another one ends the operation. */
final class KilledOperationTest {

    private static final int MESSAGES = 5;

    private static final Duration AGE = Duration.ofHours(1);

    /** The contract of operations has every boundary, with a process that only loses its connections. */
    @OnAllServers
    void killedInAStepNothingIsRepeatedAndNothingIsSkipped(Engine engine) {
        Cells.run(places(engine), place -> killed(engine, place));
    }

    /** The places around the change of a step, each as its number and what comes next; all of them in a full run. */
    private static List<String> places(Engine engine) {
        try (Site site = Site.on(engine)) {
            Operation started = started(site);
            Child unharmed = site.operator(0);
            unharmed.await("answered", 1);
            assertThat(unharmed.said("answered").get(0).value()).isEqualTo("COMPLETED");
            assertDone(site, started, "nowhere");
            List<String> places = unharmed.said("boundary").stream()
                    .map(line -> line.values().get(0) + " " + line.values().get(1))
                    .toList();
            if (Boolean.getBoolean("postrider.full")) {
                return places;
            }
            System.err.println("NOT RUN: KilledOperationTest: kills at " + (places.size() - 3) + " of " + places.size()
                    + " boundaries need -Pfull");
            List<String> few = new ArrayList<>();
            few.add(last(places, "SET_redelivered_at"));
            few.add(last(places, "INSERT_INTO_postrider_audit"));
            few.add(last(places, "committed"));
            return few;
        }
    }

    private static String last(List<String> places, String part) {
        return places.stream()
                .filter(place -> place.contains(part))
                .reduce((first, second) -> second)
                .orElseThrow();
    }

    private static void killed(Engine engine, String place) {
        int boundary = Integer.parseInt(place.substring(0, place.indexOf(' ')));
        try (Site site = Site.on(engine)) {
            Operation started = started(site);
            Child doomed = site.operator(boundary);
            doomed.await("boundary", boundary);
            doomed.kill();
            assertThat(doomed.count("answered")).as(place).isZero();

            new DatabaseClock(site.dataSource()).advance(OperationProgram.LEASE.plusSeconds(1));
            OperationStore survivor = JdbcDatabase.open(
                            site.dataSource(), TableOptions.defaults(), Duration.ofMinutes(1), event -> {})
                    .operations(() -> {});
            Await.until(() -> place + ": " + now(site, started), () -> {
                survivor.step("survivor", OperationProgram.LEASE);
                return now(site, started).state().isEnded();
            });

            assertDone(site, started, place);
        }
    }

    /** Starts the redelivery of a few delivered messages, as new ones: a second one would be seen. */
    private static Operation started(Site site) {
        site.place(MESSAGES);
        MessageStore store = site.postrider().store();
        for (Claim claim : store.claim(ClaimRequest.of(Orders.TOPIC, "test"))) {
            store.acknowledge(claim);
        }
        new DatabaseClock(site.dataSource()).advance(AGE);
        Filter all = Filter.delivered().delivered(null, Instant.now().minus(AGE.dividedBy(2)));
        return site.postrider().admin().start(Action.REDELIVER_AS_NEW, all, OperationTerms.by("test"));
    }

    private static Operation now(Site site, Operation started) {
        return site.postrider().admin().operation(started.id()).orElseThrow();
    }

    private static void assertDone(Site site, Operation started, String place) {
        assertThat(now(site, started)).as(place).satisfies(operation -> {
            assertThat(operation.state()).isEqualTo(OperationState.COMPLETED);
            assertThat(operation.changed()).isEqualTo(MESSAGES);
            assertThat(operation.skipped()).isZero();
        });
        assertThat(site.live()).as(place).hasSize(MESSAGES);
        assertThat(new HashSet<>(site.live())).as(place).isEqualTo(site.orders());
        assertThat(site.count("SELECT COUNT(*) FROM postrider_audit WHERE action = 'END_OPERATION'"))
                .as(place)
                .isEqualTo(1);
    }
}
