package dev.postrider.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.HandWritten;
import dev.postrider.benchmarks.contender.Order;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.contender.Receiver;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** A figure is worth nothing if its system did not do the work. Nothing is said about times here. */
class ContendersTest {

    private static final int MESSAGES = 200;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static Arena arena;

    @BeforeAll
    static void start() {
        arena = Arena.start(Engine.POSTGRESQL_18);
    }

    @AfterAll
    static void stop() {
        arena.close();
    }

    @TestFactory
    Stream<DynamicTest> everySystemDeliversEachMessageOnce() {
        return contenders().stream()
                .map(contender ->
                        DynamicTest.dynamicTest(contender.name(), () -> deliversBacklogAndTransactions(contender)));
    }

    private static List<Contender> contenders() {
        List<Contender> contenders = new ArrayList<>(List.of(
                PostriderContender.archiving(arena, arena.pool()),
                PostriderContender.deleting(arena, arena.pool()),
                PostriderContender.keyed(arena, arena.pool()),
                PostriderContender.ordered(arena, arena.pool()),
                PostriderContender.orderedDeleting(arena, arena.pool()),
                HandWritten.leasing(arena, arena.pool()),
                HandWritten.locking(arena, arena.pool()),
                HandWritten.keyed(arena, arena.pool()),
                HandWritten.inLanes(arena, arena.pool()),
                HandWritten.inLanesArchiving(arena, arena.pool())));
        for (Peer peer : Peer.values()) {
            contenders.add(peer.forThroughput(arena, arena.pool()));
        }
        return contenders;
    }

    private static void deliversBacklogAndTransactions(Contender contender) throws Exception {
        try (contender) {
            contender.prepare();
            contender.clear();
            int filled = contender.name().startsWith("hand-written ordered") ? MESSAGES : MESSAGES / 2;
            contender.fill(filled);
            for (int number = filled; number < MESSAGES; number++) {
                contender.transact(new Order(number));
            }
            assertThat(contender.unfinished()).isEqualTo(MESSAGES);
            Receiver receiver = new Receiver(MESSAGES);
            contender.start(receiver);
            receiver.await(MESSAGES, PATIENCE);
            contender.stop();
            receiver.verify(MESSAGES);
            assertThat(contender.unfinished()).isZero();
        }
    }
}
