package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.testkit.FaultyProxy;
import dev.postrider.testkit.database.Engine;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Consumers that die, or lose their connection, anywhere between receiving a message and acknowledging it. */
final class KilledConsumerTest {

    @OnAllServers
    void killedAtEveryBoundaryTheMessageTakesEffectOnce(Engine engine) {
        List<String> places = boundaries(engine);
        assertThat(places)
                .as("what there is to be killed between")
                .anyMatch(place -> place.contains("INTO_postrider_inbox_mark"))
                .anyMatch(place -> place.contains("INTO_payment"))
                .anyMatch(place -> place.contains("INTO_postrider_message"))
                .anyMatch(place -> place.equals("commit") || place.endsWith("COMMIT"))
                .endsWith("committed");
        Cells.run(
                IntStream.rangeClosed(1, places.size()).boxed().toList(),
                boundary -> killedAt(engine, boundary, places.get(boundary - 1)));
    }

    /** Those that a consumer passes when nothing happens to it. */
    private static List<String> boundaries(Engine engine) {
        try (Site site = Site.on(engine)) {
            site.execute(Payments.TABLE);
            Child unharmed = site.consumer(0);
            unharmed.await("answered", 1);
            assertThat(unharmed.said("answered").get(0).value()).isEqualTo("true");
            return unharmed.said("boundary").stream()
                    .map(line -> line.values().get(1))
                    .toList();
        }
    }

    private static void killedAt(Engine engine, int boundary, String place) throws SQLException {
        try (Site site = Site.on(engine)) {
            site.execute(Payments.TABLE);
            Child consumer = site.consumer(boundary);
            consumer.await("boundary", boundary);
            consumer.kill();
            assertThat(consumer.count("boundary")).isEqualTo(boundary);
            assertThat(consumer.count("answered")).isZero();
            boolean committed = place.equals("committed");

            ProcessResult again = Payments.process(site.postrider());

            assertThat(again.isProcessed()).as("killed before %s", place).isEqualTo(!committed);
            assertThat(again.isDuplicate()).as("killed before %s", place).isEqualTo(committed);
            assertThat(site.count(Payments.COUNT)).as("killed before %s", place).isEqualTo(1);
            assertThat(site.live()).as("killed before %s", place).containsExactly("payment");
            assertThat(Payments.process(site.postrider()).isDuplicate()).isTrue();
        }
    }

    @OnAllServers
    void lostAnswerOfTheCommitIsToldWhenTheMessageComesAgain(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            site.execute(Payments.TABLE);
            FaultyProxy proxy = site.proxy();
            Postrider behind = Orders.configured(site.pool(site.behind(proxy)), topic -> {})
                    .build();
            Future<Integer> lost = proxy.loseAnswerTo("INSERT INTO payment", "COMMIT");

            assertThatThrownBy(() -> Payments.process(behind)).isInstanceOf(StoreUnavailableException.class);
            lost.get(60, TimeUnit.SECONDS);

            assertThat(Payments.process(behind).isDuplicate()).isTrue();
            assertThat(site.count(Payments.COUNT)).isEqualTo(1);
            assertThat(site.live()).containsExactly("payment");
        }
    }

    @OnAllServers
    void lostAnswerOfTheMarkLeavesNothingBehind(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            site.execute(Payments.TABLE);
            FaultyProxy proxy = site.proxy();
            Postrider behind = Orders.configured(site.pool(site.behind(proxy)), topic -> {})
                    .build();
            Future<Integer> lost = proxy.loseAnswerTo("postrider_inbox_mark ");

            assertThatThrownBy(() -> Payments.process(behind)).isInstanceOf(StoreUnavailableException.class);
            lost.get(60, TimeUnit.SECONDS);

            assertThat(Payments.process(behind).isProcessed()).isTrue();
            assertThat(site.count(Payments.COUNT)).isEqualTo(1);
            assertThat(site.live()).containsExactly("payment");
        }
    }
}
