package dev.postrider.simulation;

import dev.postrider.admin.CommandAdmin;
import dev.postrider.admin.StoredCommand;
import dev.postrider.error.PostriderException;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.LeasedCommand;
import dev.postrider.idempotency.ResultCodecs;
import dev.postrider.jdbc.SimulatedDatabase;
import dev.postrider.message.Message;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Those who ask for commands, on one node or another, until they have an answer or have had enough; and what the commands do. */
final class Callers {

    static final Duration LEASE = Duration.ofSeconds(2);

    private static final String REQUEST = "the same";
    private static final int FAILS = 10;

    /** How a command is run. */
    enum Mode {
        /** In a transaction: its own, or the caller's. */
        TRANSACTION,
        /** Under a lease; uncertain if it is lost after the effect began. */
        LEASED,
        /** Under a lease; uncertain whenever it is lost. */
        GUARDED,
        /** Under a lease; taken over if it is lost, since the other system does it once. */
        REPEATED
    }

    /**
     * A command that is asked for.
     *
     * @param refused whether its answer is no
     * @param takes how long its work takes, each time
     */
    record Wish(String key, Mode mode, boolean refused, Duration takes, Command<String> command) {}

    /** What a caller was told. */
    record Told(Wish wish, CommandResult<String> answer) {}

    private final Conductor conductor;
    private final Chance chance;
    private final SimulatedDatabase database;
    private final Supplier<@Nullable Node> nodes;
    private final Supplier<Message> mails;
    private final Payments payments;
    private final List<Wish> wishes = new ArrayList<>();
    private final List<Told> told = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();
    private int unanswered;
    private boolean calm;

    /**
     * @param nodes one of those that are there, by chance; null for one that is not there now
     * @param mails makes a message that is sent with what is done
     */
    Callers(Conductor conductor, SimulatedDatabase database, Supplier<@Nullable Node> nodes, Supplier<Message> mails) {
        this.conductor = conductor;
        this.chance = conductor.chance();
        this.database = database;
        this.nodes = nodes;
        this.mails = mails;
        this.payments = new Payments(conductor);
    }

    List<Wish> wishes() {
        return wishes;
    }

    List<Told> told() {
        return told;
    }

    List<String> complaints() {
        return complaints;
    }

    Payments payments() {
        return payments;
    }

    /** How many still ask. */
    int unanswered() {
        return unanswered;
    }

    void calm() {
        calm = true;
        payments.calm();
    }

    /** @param confused whether some come with the key of another request; one that is lost by a failover they would get */
    void begin(boolean confused) {
        int count = (int) chance.between(1, 3);
        for (int i = 0; i < count; i++) {
            Wish wish = wish("c" + i);
            wishes.add(wish);
            int callers = (int) chance.between(1, 3);
            for (int j = 0; j < callers; j++) {
                Host host = new Host("caller-" + wish.key() + (j + 1));
                boolean patient = !chance.oneIn(4);
                unanswered += patient ? 1 : 0;
                conductor.begin(host, "asks", () -> ask(wish, patient, confused && chance.oneIn(6)));
            }
        }
    }

    private Wish wish(String key) {
        Mode mode = chance.oneIn(2) ? Mode.TRANSACTION : chance.pick(List.of(Mode.values()));
        Duration takes = Duration.ofMillis(chance.oneIn(3) ? chance.between(1_000, 4_000) : chance.between(0, 300));
        return new Wish(key, mode, chance.oneIn(8), takes, command(key, mode, REQUEST));
    }

    private Command<String> command(String key, Mode mode, String request) {
        Duration wait = Duration.ofMillis(chance.oneIn(2) ? 0 : chance.between(1, 3_000));
        boolean forgets = chance.oneIn(5);
        int attempts = mode == Mode.TRANSACTION || chance.oneIn(2) ? 0 : 3;
        Command<String> command = Command.named(mode.name())
                .anyCaller()
                .key(key)
                .fingerprint(request)
                .with(options -> options.lease(LEASE)
                        .joinWait(Duration.ofSeconds(1))
                        .waitForResult(wait)
                        .maxAttempts(attempts))
                .with(options -> {
                    if (forgets) {
                        options.resultTtl(Duration.ofSeconds(4));
                    }
                    if (mode == Mode.GUARDED) {
                        options.onLostLease(Command.OnLostLease.UNCERTAIN);
                    } else if (mode == Mode.REPEATED) {
                        options.onLostLease(Command.OnLostLease.TAKE_OVER);
                    }
                })
                .returning(ResultCodecs.text());
        return mode == Mode.TRANSACTION ? command : command.probedBy(payments::probe);
    }

    // Asking

    /** One who is not patient asks twice at most, and does not care. */
    private void ask(Wish wish, boolean patient, boolean confused) {
        conductor.pass(chance.between(0, 8_000) * 1_000_000);
        boolean done = false;
        for (int i = 0; !done && (patient || i < 2); i++) {
            Node node = nodes.get();
            done = node != null && call(node, wish, wish.command());
            conductor.pass(chance.between(10, 1_500) * 1_000_000);
        }
        if (patient) {
            unanswered--;
        }
        Node node = nodes.get();
        if (done && confused && node != null) {
            call(node, wish, command(wish.key(), wish.mode(), "another"));
        }
    }

    /** Does not wait for ever, and asks another node then. What the first is told is judged all the same. */
    private boolean call(Node node, Wish wish, Command<String> command) {
        Signal back = new Signal(conductor);
        boolean[] done = new boolean[1];
        conductor.begin(node.host(), "runs " + wish.key(), () -> {
            done[0] = isAnswered(node, wish, command);
            back.signal();
        });
        try {
            back.await(chance.between(500, 8_000) * 1_000_000);
        } catch (InterruptedException e) {
            throw new AssertionError("no thread interrupts this", e);
        }
        return done[0];
    }

    private boolean isAnswered(Node node, Wish wish, Command<String> command) {
        try {
            CommandResult<String> answer = run(node, wish, command);
            conductor.note(wish.key() + " is answered: " + answer.getClass().getSimpleName());
            if (command != wish.command()) {
                mismatched(wish, answer);
                return true;
            }
            told.add(new Told(wish, answer));
            return answer instanceof CommandResult.Completed
                    || answer instanceof CommandResult.Rejected
                    || answer instanceof CommandResult.ResultOmitted;
        } catch (Exception e) {
            conductor.note(wish.key() + " failed: " + e.getClass().getSimpleName());
            boolean expected = e instanceof PostriderException
                    || e instanceof SQLException
                    || (e instanceof IllegalStateException && e.getCause() == null);
            if (!expected) {
                throw new AssertionError("no such failure was to be expected", e);
            }
            return false;
        }
    }

    private void mismatched(Wish wish, CommandResult<String> answer) {
        if (!(answer instanceof CommandResult.Mismatch)) {
            complaints.add("command: another request got the answer of " + wish.key() + ": " + answer);
        }
    }

    private CommandResult<String> run(Node node, Wish wish, Command<String> command) throws Exception {
        if (wish.mode() != Mode.TRANSACTION) {
            return node.commands().lease(command, lease -> work(wish, lease));
        }
        return chance.oneIn(2)
                ? node.commands().run(command, transaction -> work(wish, transaction))
                : join(node, wish, command);
    }

    /** In a transaction of the caller's, who may think better of it. Nothing was answered before the commit was. */
    private CommandResult<String> join(Node node, Wish wish, Command<String> command) throws SQLException {
        try (Connection connection = node.stores().connect()) {
            connection.setAutoCommit(false);
            CommandResult<String> answer =
                    node.commands().join(connection, command, transaction -> work(wish, transaction));
            conductor.pass(chance.between(0, 50_000) * 1000);
            if (fails()) {
                throw new IllegalStateException("not now");
            }
            connection.commit();
            return answer;
        }
    }

    // Working

    private boolean fails() {
        return !calm && chance.oneIn(FAILS);
    }

    private void takeTime(Wish wish) {
        conductor.pass(wish.takes());
        if (fails()) {
            throw new IllegalStateException("not now");
        }
    }

    private String work(Wish wish, CommandTransaction transaction) throws SQLException {
        String result = chance.id().toString();
        database.deed(transaction.connection(), wish.key(), result);
        if (chance.oneIn(2)) {
            transaction.stage(mails.get());
        }
        takeTime(wish);
        if (wish.refused()) {
            throw new CommandRejectedException("no");
        }
        return result;
    }

    private String work(Wish wish, LeasedCommand lease) throws Exception {
        Payments.Ticket ticket = payments.begin(lease.reference());
        if (chance.oneIn(2)) {
            lease.step("prepare", ResultCodecs.text(), () -> "prepared");
        }
        takeTime(wish);
        if (wish.refused()) {
            throw new CommandRejectedException("no");
        }
        lease.externalEffectStarted();
        try {
            return wish.mode() == Mode.REPEATED
                    ? payments.payOnce(ticket, lease.downstreamKey("pay"), wish.key())
                    : payments.pay(ticket, wish.key());
        } catch (Payments.RefusedException e) {
            lease.externalEffectDidNotHappen();
            throw e;
        }
    }

    // Mending

    /** What an operator does about a command whose outcome is unknown: he asks the other system, and stands by its answer. */
    void resolve(CommandAdmin admin) {
        List<StoredCommand> uncertain = admin.uncertain(10);
        if (uncertain.isEmpty()) {
            return;
        }
        UUID reference = chance.pick(uncertain).reference();
        CommandAdmin.Resolution resolution =
                payments.close(reference) ? CommandAdmin.Resolution.COMPLETED : CommandAdmin.Resolution.RELEASED;
        while (true) {
            try {
                CommandAdmin.Resolved resolved = admin.resolve(reference, resolution, "operator");
                conductor.note("operator says " + resolution + " of " + reference + ": " + resolved);
                break;
            } catch (PostriderException e) {
                conductor.pass(Duration.ofMillis(200)); // until he knows
            }
        }
        payments.reopen(reference);
    }
}
