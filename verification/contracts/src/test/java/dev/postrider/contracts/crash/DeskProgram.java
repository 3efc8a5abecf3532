package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.HandlingStore;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.TableOptions;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** Receives a message, or handles one that was received, and stops for ever at the boundary that it is told. */
final class DeskProgram {

    /** How long others must leave alone what it holds. */
    static final Duration LEASE = Duration.ofSeconds(2);

    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final Duration SHORT_TIMEOUT = Duration.ofSeconds(5);
    private static final Gate GATE = new Gate();

    private DeskProgram() {}

    public static void main(String[] arguments) throws IOException {
        DataSource pool = Orders.pool(Orders.database(arguments));
        DataSource boundaries = new Boundaries(pool, Integer.parseInt(arguments[4]));
        new Thread(() -> {
                    try {
                        Parent.tell("answered", run(arguments[5], pool, boundaries));
                    } catch (RuntimeException e) {
                        Parent.tell("failed", e);
                    }
                })
                .start();
        Parent.obey(command -> GATE.set(true));
    }

    private static Object run(String what, DataSource pool, DataSource boundaries) {
        return switch (what) {
            case "receive" -> {
                Postrider postrider = Desk.configured(boundaries).build();
                yield postrider
                        .inbox(Desk.UNORDERED)
                        .receive(List.of(Payments.received()))
                        .fresh()
                        .size();
            }
            case "handle" -> handle(boundaries, claimed(pool), DeskProgram::pay, TIMEOUT);
            case "wait" -> handle(boundaries, claimed(pool), DeskProgram::payWhenTold, SHORT_TIMEOUT);
            default -> handle(boundaries, read(pool), DeskProgram::pay, TIMEOUT);
        };
    }

    private static HandlingStore.Item claimed(DataSource pool) {
        ClaimRequest request =
                ClaimRequest.of(Desk.queue(Desk.UNORDERED).toString(), "child").lease(LEASE);
        return new HandlingStore.Item(
                Desk.configured(pool).build().store().claim(request).get(0), null);
    }

    private static HandlingStore.Item read(DataSource pool) {
        LaneStore lanes = open(pool).lanes();
        Lane lane = lanes.acquire(new Lane.Request(Desk.queue(Desk.ORDERED), "child", 1, Lane.Supply.FREE, LEASE))
                .get(0);
        LaneClaim first = lanes.read(lane.topic(), Map.of(lane, 1), 1024).get(0);
        return new HandlingStore.Item(first.claim(), first.place());
    }

    private static void pay(Claim claim, Message message, UnitOfWork work) throws SQLException {
        Desk.pay(message, work);
    }

    /** Writes, and goes on when it gets a command. */
    private static void payWhenTold(Claim claim, Message message, UnitOfWork work) throws Exception {
        GATE.set(false);
        Desk.pay(message, work);
        Parent.tell("inside");
        GATE.pass();
    }

    private static HandlingStore.End handle(
            DataSource boundaries, HandlingStore.Item item, HandlingStore.Handler handler, Duration timeout) {
        HandlingStore.Terms terms = new HandlingStore.Terms(handler, timeout, HandOver.none());
        return open(boundaries)
                .handling()
                .transaction(List.of(item), terms)
                .run()
                .get(0)
                .end();
    }

    private static JdbcDatabase open(DataSource dataSource) {
        return JdbcDatabase.open(dataSource, TableOptions.defaults(), TIMEOUT, event -> {});
    }
}
