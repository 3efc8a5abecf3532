package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.database.Engine;
import java.util.HashSet;
import java.util.List;

/** The control: without a fault there is not a single duplicate. */
final class FaultlessRunTest {

    private static final int MESSAGES = 5000;

    @OnAllServers
    void twoWorkersWithoutFaultsDeliverEachMessageOnce(Engine engine) {
        try (Site site = Site.on(engine)) {
            Pace pace = Pace.PATIENT.inFlight(100);
            List<Child> workers = List.of(site.worker("first", pace), site.worker("second", pace));
            for (int i = 0; i < 10; i++) {
                site.place(MESSAGES / 10);
            }
            workers.forEach(worker -> worker.await("ready", 1));
            long begun = System.nanoTime();
            workers.forEach(worker -> worker.tell("start"));

            Await.until(
                    () -> "of " + workers + " live " + site.live().size(),
                    () -> workers.stream()
                                    .mapToLong(worker -> worker.count("acknowledged"))
                                    .sum()
                            >= MESSAGES);
            long took = System.nanoTime() - begun;
            Await.until(() -> "live " + site.live(), () -> site.live().isEmpty());

            List<Child.Line> deliveries = workers.stream()
                    .flatMap(worker -> worker.said("delivered").stream())
                    .toList();
            site.print(
                    "two workers without faults",
                    MESSAGES + " messages in " + Site.millis(took) + " ms, shared "
                            + workers.stream()
                                    .map(worker -> worker.count("delivered"))
                                    .toList()
                            + ", duplicates " + (deliveries.size() - MESSAGES));
            assertThat(deliveries).hasSize(MESSAGES).allMatch(line -> line.number() == 1);
            assertThat(new HashSet<>(deliveries.stream().map(Child.Line::value).toList()))
                    .isEqualTo(site.orders());
            assertThat(site.archived()).hasSize(MESSAGES);
            assertThat(site.archived().values()).allMatch(message -> message.attempts() == 1 && message.crashes() == 0);
            for (String trouble : List.of("lost", "skipped", "failed", "buried")) {
                assertThat(workers.stream().flatMap(worker -> worker.said(trouble).stream()))
                        .isEmpty();
            }
            assertThat(workers).allMatch(worker -> worker.count("delivered") > 0);
        }
    }
}
