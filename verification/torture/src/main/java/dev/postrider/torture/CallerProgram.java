package dev.postrider.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandLostException;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Runs commands in all modes, each several times and in several processes at the same time. The effect of a command is a row in a
 * table without a unique key, so only the command prevents a second row. The result of a command is the id of the call that executed
 * it.
 */
final class CallerProgram {

    private static final int THREADS = 3;
    private static final double PER_SECOND = 20;
    private static final int CALLS = 3;
    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Set<String> FINAL = Set.of("completed", "rejected", "mismatch", "uncertain");

    private final HikariDataSource pool;
    private final Postrider postrider;
    private final Journal journal;
    private final Path directory;
    private final Pacer pacer = new Pacer();

    /** The identity of a command and its request. */
    private record Question(String tenant, String caller, String mode, String key, String fingerprint) {

        String operation() {
            return "torture." + mode;
        }
    }

    private CallerProgram(Assignment assignment) {
        pool = assignment.pool(THREADS + 3);
        PostriderBuilder builder = Business.configured(pool, topic -> {});
        postrider = Parent.insist(builder::build);
        journal = assignment.journal("caller");
        directory = assignment.directory();
    }

    public static void main(String[] arguments) throws IOException {
        Assignment assignment = Assignment.parse(arguments);
        CallerProgram program = new CallerProgram(assignment);
        program.pacer.rate(PER_SECOND);
        Random seeds = new Random(assignment.seed());
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(seeds.nextLong());
            Parent.daemon("caller-" + i, () -> program.askAll(random));
        }
        Parent.tell("ready");
        Parent.obey(order -> {
            switch (order[0]) {
                case "settle" -> Parent.daemon("settle", program::settle);
                case "rate" -> {}
                case "stop" -> {
                    program.postrider.close();
                    Parent.leave();
                }
                default -> throw new IllegalArgumentException(order[0]);
            }
        });
    }

    /** Runs commands in a loop. Keys contain the current time slice, so that two processes choose the same keys without communication. */
    private void askAll(Random random) {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                long slice = System.currentTimeMillis() / 500;
                int which = random.nextInt(3);
                String mode = List.of("join", "fenced", "leased").get(which);
                String key = slice + "-" + random.nextInt(2);
                String fingerprint = random.nextInt(50) == 0 ? "another" : key;
                Question question = new Question("t" + random.nextInt(2), "ada", mode, key, fingerprint);
                for (int i = 1 + random.nextInt(CALLS); i > 0; i--) {
                    pacer.pass(1);
                    ask(question);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Repeats every command that has no final answer until it has one: no command may stay in progress forever. */
    private void settle() {
        pacer.rate(0);
        try {
            for (int round = 0; round < 40; round++) {
                Set<Question> open = open();
                if (open.isEmpty()) {
                    break;
                }
                open.forEach(this::ask);
                Thread.sleep(500);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Parent.tell("settled");
    }

    /** Commands without a final answer, from the journals of all callers, including killed ones. */
    private Set<Question> open() {
        Set<Question> open = new LinkedHashSet<>();
        Map<String, Question> calls = new HashMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            List<Path> journals = files.filter(
                            file -> String.valueOf(file.getFileName()).startsWith("caller-"))
                    .toList();
            for (Path journal : journals) {
                try (JournalReader reader = new JournalReader(journal)) {
                    reader.more(line -> asked(JournalLine.parse(line), calls));
                }
            }
            open.addAll(calls.values());
            for (Path journal : journals) {
                try (JournalReader reader = new JournalReader(journal)) {
                    reader.more(line -> told(JournalLine.parse(line), calls, open));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return open;
    }

    private static void asked(JournalLine line, Map<String, Question> calls) {
        if (line.event().equals("asked")) {
            calls.put(line.value("call"), question(line));
        }
    }

    private static void told(JournalLine line, Map<String, Question> calls, Set<Question> open) {
        if (line.event().equals("told") && FINAL.contains(line.value("status"))) {
            open.remove(calls.get(line.value("call")));
        }
    }

    private static Question question(JournalLine line) {
        return new Question(
                line.value("tenant"),
                line.value("caller"),
                line.value("mode"),
                line.value("key"),
                line.value("fingerprint"));
    }

    private void ask(Question question) {
        String call = UUID.randomUUID().toString();
        journal.write(
                "asked",
                "tenant",
                question.tenant(),
                "caller",
                question.caller(),
                "operation",
                question.operation(),
                "key",
                question.key(),
                "fingerprint",
                question.fingerprint(),
                "mode",
                question.mode(),
                "call",
                call);
        String status;
        String result = "";
        try {
            CommandResult<String> answer = run(question, call);
            status = status(answer);
            result = answer instanceof CommandResult.Completed<String> completed
                    ? String.valueOf(completed.value())
                    : "";
        } catch (CommandLostException | StoreUnavailableException e) {
            status = "failed";
        } catch (SQLException | RuntimeException e) {
            status = "unknown";
        }
        journal.write("told", "call", call, "status", status, "result", result);
    }

    private static String status(CommandResult<String> answer) {
        if (answer instanceof CommandResult.Completed || answer instanceof CommandResult.ResultOmitted) {
            return "completed";
        }
        if (answer instanceof CommandResult.Rejected) {
            return "rejected";
        }
        if (answer instanceof CommandResult.InProgress) {
            return "conflict";
        }
        return answer instanceof CommandResult.Mismatch ? "mismatch" : "uncertain";
    }

    private CommandResult<String> run(Question question, String call) throws SQLException {
        Command<String> command = Command.named(question.operation())
                .tenant(question.tenant())
                .caller(question.caller())
                .key(question.key())
                .fingerprint(question.fingerprint())
                .with(options -> options.lease(LEASE).joinWait(Duration.ofSeconds(2)))
                .returningText();
        return switch (question.mode()) {
            case "join" -> join(command, question, call);
            case "fenced" ->
                postrider.commands().<String, SQLException>run(command, tx -> effect(tx.connection(), question, call));
            default ->
                postrider.commands().<String, SQLException>lease(command, lease -> {
                    rejectSome(question);
                    failSome(call);
                    lease.externalEffectStarted();
                    try (Connection connection = pool.getConnection()) {
                        return effect(connection, question, call);
                    }
                });
        };
    }

    private CommandResult<String> join(Command<String> command, Question question, String call) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            CommandResult<String> result = postrider
                    .commands()
                    .<String, SQLException>join(connection, command, tx -> effect(tx.connection(), question, call));
            connection.commit();
            return result;
        }
    }

    private static String effect(Connection connection, Question question, String call) throws SQLException {
        rejectSome(question);
        if (!question.mode().equals("leased")) {
            failSome(call);
        }
        work(call);
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO torture_command_effect (tenant, caller, operation, command_key, call_id)"
                        + " VALUES (?, ?, ?, ?, ?)")) {
            insert.setString(1, question.tenant());
            insert.setString(2, question.caller());
            insert.setString(3, question.operation());
            insert.setString(4, question.key());
            insert.setString(5, call);
            insert.executeUpdate();
        }
        return call;
    }

    /** Delays one in four executions, so that a kill or a pause can hit it in the middle. */
    private static void work(String call) {
        int lot = Math.floorMod(call.hashCode(), 1600);
        if (lot < 400) {
            LockSupport.parkNanos(lot * 1_000_000L);
        }
    }

    /** Fails some executions before their effect, so that the command may be executed again. The next execution has another call id. */
    private static void failSome(String call) {
        if (Math.floorMod(call.hashCode(), 1600) >= 1550) {
            throw new IllegalStateException("not now");
        }
    }

    /** Rejects a fixed set of keys. */
    private static void rejectSome(Question question) {
        if (Math.floorMod(question.key().hashCode(), 20) == 0) {
            throw new CommandRejectedException("there is no such account");
        }
    }
}
