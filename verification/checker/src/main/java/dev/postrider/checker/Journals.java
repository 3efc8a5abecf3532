package dev.postrider.checker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Reads the journals of a run. Those of producers come first: the others are compared with their intents. */
final class Journals {

    private static final String SUFFIX = ".journal";

    private final Path directory;
    private final History history = new History();
    private final Intents intents = history.intents;

    /** Calls without an answer so far. A killed caller never gets one. */
    private final Map<Integer, Call> open = new LinkedHashMap<>();

    /** Deliveries whose answer did not reach the worker in time. */
    private final List<Unheard> unheard = new ArrayList<>();

    private record Unheard(int message, int worker, int attempt, long time) {}

    private Journals(Path directory) {
        this.directory = directory;
    }

    static History read(Path directory) {
        return new Journals(directory).read();
    }

    private History read() {
        files("producer-").forEach(file -> JournalFile.read(file, this::produced));
        files("worker-").forEach(this::worker);
        files("note-").forEach(file -> JournalFile.read(file, this::noted));
        files("receiver").forEach(file -> JournalFile.read(file, this::received));
        unheard.forEach(this::giveUp);
        files("consumer-").forEach(file -> JournalFile.read(file, this::handled));
        files("caller-").forEach(file -> JournalFile.read(file, this::called));
        history.commands.addAll(open.values());
        files("nemesis").forEach(file -> JournalFile.read(file, this::broken));
        files("operator").forEach(file -> JournalFile.read(file, this::operated));
        return history;
    }

    private List<Path> files(String prefix) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> {
                        String name = String.valueOf(file.getFileName());
                        return name.startsWith(prefix) && name.endsWith(SUFFIX);
                    })
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UnreadableEvidenceException("Cannot list " + directory, e);
        }
    }

    // Producers

    private void produced(Line line) {
        Transactions transactions = history.transactions;
        int transaction = line.id("tx", transactions.ids);
        if (line.is("intended")) {
            intended(line, transaction);
        } else if (line.is("committed")) {
            transactions.committed.set(transaction);
            transactions.committedAt.set(transaction, line.time());
        } else if (line.is("rolledback")) {
            transactions.rolledBack.set(transaction);
        } else if (!line.is("unknown")) {
            throw line.unreadable("has an event that no producer writes");
        }
    }

    private void intended(Line line, int transaction) {
        int message = line.id("id", history.messages);
        int row = intents.message.add(message);
        intents.transaction.set(row, transaction);
        intents.time.set(row, line.time());
        intents.topic.set(row, history.names.of(line.text("topic")));
        intents.address.set(row, address(line));
        intents.number.set(row, (int) line.number("number"));
        intents.hashHigh.set(row, line.digits("hash", 0));
        intents.hashLow.set(row, line.digits("hash", 16));
        String dedup = line.text("dedup");
        if (!dedup.isEmpty()) {
            String scope = History.together(line.text("topic"), line.text("tenant"), dedup);
            intents.dedup.set(row, history.dedupKeys.of(scope));
        }
        intents.deliverAt.set(row, line.number("deliverAt"));
        intents.ordered.set(row, line.isTrue("ordered"));
        intents.kept.set(row, line.isTrue("kept"));
        intents.previous.set(row, intents.last.get(message));
        intents.last.set(message, row);
    }

    private int address(Line line) {
        return history.names.of(History.together(line.text("topic"), line.text("tenant"), line.text("key")));
    }

    // Workers

    private void worker(Path file) {
        String name = String.valueOf(file.getFileName());
        int worker = history.workers.size();
        history.workers.add(new Worker(name.substring(0, name.length() - SUFFIX.length()), "", "", 0, 0, 0));
        JournalFile.read(file, line -> worked(line, worker));
    }

    private void worked(Line line, int worker) {
        Worker known = history.workers.get(worker);
        if (line.is("sending")) {
            int row = history.sendings.message.add(line.id("id", history.messages));
            history.sendings.time.set(row, line.time());
            history.sendings.worker.set(row, worker);
            if (!line.text("token").isEmpty()) {
                history.sendings.token.set(row, line.id("token", history.tokens));
            }
        } else if (line.is("unheard")) {
            int message = line.id("id", history.messages);
            int sender = history.names.of(line.text("worker"));
            unheard.add(new Unheard(message, sender, (int) line.number("attempt"), line.time()));
        } else if (line.is("acknowledged")) {
            outcome(line, worker, Outcomes.Kind.ACKNOWLEDGED);
        } else if (line.is("lost")) {
            outcome(line, worker, Outcomes.Kind.LOST);
        } else if (line.is("failed")) {
            outcome(line, worker, Outcomes.Kind.FAILED);
        } else if (line.is("buried")) {
            outcome(line, worker, Outcomes.Kind.BURIED);
        } else if (line.is("parked")) {
            outcome(line, worker, Outcomes.Kind.PARKED);
        } else if (line.is("started")) {
            history.workers.set(
                    worker, new Worker(known.file(), line.text("name"), line.text("pid"), line.time(), 0, 0));
        } else if (line.is("stopping")) {
            history.workers.set(
                    worker, new Worker(known.file(), known.name(), known.pid(), known.started(), line.time(), 0));
        } else if (line.is("stopped")) {
            history.workers.set(
                    worker,
                    new Worker(
                            known.file(), known.name(), known.pid(), known.started(), known.stopping(), line.time()));
        } else {
            throw line.unreadable("has an event that no worker writes");
        }
    }

    private void outcome(Line line, int worker, Outcomes.Kind kind) {
        Outcomes outcomes = history.outcomes;
        int row = outcomes.message.add(line.id("id", history.messages));
        outcomes.kinds.add(kind);
        outcomes.time.set(row, line.time());
        outcomes.worker.set(row, worker);
        outcomes.attempt.set(row, (int) line.number("attempt"));
        outcomes.delay.set(row, line.number("delayMicros"));
        outcomes.reason.set(row, history.names.of(line.text("reason")));
    }

    /** Additional notes of workers; most of them are only for people. */
    private void noted(Line line) {
        if (line.is("taken") || line.is("released")) {
            history.laneChanges.add(new Fault("lanes", line.text("topic"), line.time(), line.time()));
        } else if (line.is("alone")) {
            history.isolations.add(new Isolation(
                    history.names.of(line.text("worker")), line.id("id", history.messages), line.time(), (int)
                            line.number("crashes")));
        }
    }

    // The receiver

    private void received(Line line) {
        Receipts receipts = history.receipts;
        int message = line.id("id", history.messages);
        int worker = history.names.of(line.text("worker"));
        if (line.is("received")) {
            int row = receipts.add(message, line.time());
            receipts.worker.set(row, worker);
            receipts.attempt.set(row, (int) line.number("attempt"));
            receipts.same.set(row, isAsIntended(line, message));
        } else if (line.is("answered")) {
            answered(line, message, worker);
        } else if (line.is("unheard")) {
            unheard(line, message, worker);
        } else {
            throw line.unreadable("has an event that no receiver writes");
        }
    }

    private boolean isAsIntended(Line line, int message) {
        for (int row = intents.last.get(message); row >= 0; row = intents.previous.get(row)) {
            if (intents.hashHigh.get(row) == line.digits("hash", 0)
                    && intents.hashLow.get(row) == line.digits("hash", 16)
                    && intents.address.get(row) == address(line)
                    && intents.number.get(row) == line.number("number")) {
                return true;
            }
        }
        return false;
    }

    /** Assigns an answer to the oldest delivery of this worker that has none. */
    private void answered(Line line, int message, int worker) {
        Receipts receipts = history.receipts;
        int oldest = -1;
        for (int row = receipts.last.get(message); row >= 0; row = receipts.previous.get(row)) {
            if (receipts.worker.get(row) == worker && receipts.result(row) == Result.NONE) {
                oldest = row;
            }
        }
        if (oldest < 0) {
            throw line.unreadable("answers what was not received");
        }
        receipts.results.set(oldest, Result.of(line));
    }

    /** The last answer to this worker was not sent. If the receiver had accepted the message, its result is dropped. */
    private void unheard(Line line, int message, int worker) {
        Receipts receipts = history.receipts;
        for (int row = receipts.last.get(message); row >= 0; row = receipts.previous.get(row)) {
            if (receipts.worker.get(row) == worker && receipts.result(row) != Result.NONE) {
                if (receipts.result(row).isTaken()) {
                    receipts.results.set(row, Result.DROPPED);
                }
                return;
            }
        }
        throw line.unreadable("tells of an answer that was not given");
    }

    /** Marks the delivery as given up by the worker. A message that never reached the receiver has no row and needs no excuse. */
    private void giveUp(Unheard sent) {
        Receipts receipts = history.receipts;
        for (int row = receipts.last.get(sent.message()); row >= 0; row = receipts.previous.get(row)) {
            if (receipts.worker.get(row) == sent.worker() && receipts.attempt.get(row) == sent.attempt()) {
                receipts.givenUp.set(row, sent.time());
                return;
            }
        }
    }

    // The other processes

    private void handled(Line line) {
        if (!line.is("handled")) {
            throw line.unreadable("has an event that no consumer writes");
        }
        history.handledBy.add(history.names.of(line.text("consumer")));
        history.handled.add(line.id("id", history.messages));
    }

    private void called(Line line) {
        int call = line.id("call", history.calls);
        if (line.is("asked")) {
            int identity = history.identities.of(History.together(
                    line.text("tenant"), line.text("caller"), line.text("operation"), line.text("key")));
            open.put(call, new Call(identity, line.text("mode"), line.text("fingerprint"), call, "", ""));
        } else if (line.is("told")) {
            Call asked = open.remove(call);
            if (asked == null) {
                throw line.unreadable("tells what was not asked");
            }
            history.commands.add(new Call(
                    asked.identity(),
                    asked.mode(),
                    asked.fingerprint(),
                    call,
                    line.text("status"),
                    line.text("result")));
        } else {
            throw line.unreadable("has an event that no caller writes");
        }
    }

    private void broken(Line line) {
        if (!line.is("fault")) {
            throw line.unreadable("has an event that no nemesis writes");
        }
        long from = line.number("fromMicros");
        long to = line.text("toMicros").isEmpty() ? Long.MAX_VALUE : line.number("toMicros");
        history.faults.add(new Fault(line.text("kind"), line.text("target"), from, to));
    }

    private void operated(Line line) {
        if (!line.is("did")) {
            throw line.unreadable("has an event that no operator writes");
        }
        int message = line.text("id").isEmpty() ? -1 : line.id("id", history.messages);
        history.actions.add(new Action(line.time(), line.text("action"), message, line.text("topic")));
    }
}
