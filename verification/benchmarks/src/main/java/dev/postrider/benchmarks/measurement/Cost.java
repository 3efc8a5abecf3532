package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.contender.Receiver;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.Probe;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import javax.sql.DataSource;

/** The cost of a message in the database, from its business transaction to its end. */
final class Cost implements Measurement {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int PART = 10;

    @Override
    public List<String> names() {
        return List.of(
                "statements_per_message",
                "statements_per_message_ordered",
                "wal_bytes_per_message_without_archive",
                "wal_bytes_per_message",
                "wal_bytes_per_message_ordered",
                "wal_bytes_per_message_ordered_without_archive");
    }

    private record Spent(double statements, double walBytes) {
        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%.3f statements, %.0f bytes of WAL", statements, walBytes);
        }
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return true;
    }

    @Override
    public double minutes() {
        return 3;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int messages = bench.scale().shallow() / PART;
        try (Field field = new Field()) {
            Rounds<Spent> rounds = bench.rounds("cost");
            add(rounds, field, arena, messages, PostriderContender::archiving);
            add(rounds, field, arena, messages, PostriderContender::deleting);
            add(rounds, field, arena, messages, PostriderContender::ordered);
            add(rounds, field, arena, messages, PostriderContender::orderedDeleting);
            for (Peer peer : bench.peers()) {
                if (peer.isSlowToNotice() && !bench.scale().isPatient()) {
                    continue;
                }
                add(rounds, field, arena, peer.part(messages), peer::forThroughput);
            }
            rounds.run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add("The insert of the order is part of it, and so is everything the system does besides meanwhile");
            String question = "From the business transaction of one order to the end of its message, then drained";
            Comparison statements =
                    Comparison.ofLess(question, "statements/message", rounds.samples(Spent::statements), notes);
            Comparison wal =
                    Comparison.ofLess(question, "bytes of WAL/message", rounds.samples(Spent::walBytes), notes);
            Peer peer = Peer.DB_SCHEDULER;
            Aim aim = Aim.atMost(1);
            return List.of(
                    statements.ratioToBestPeer(names().get(0), aim, "postrider"),
                    statements.ratioToBestPeer(names().get(1), aim, "postrider ordered"),
                    wal.ratioToPeer(names().get(2), Aim.atMost(0.8), "postrider without archive", peer),
                    wal.ratioToPeer(names().get(3), Aim.atMost(1.1), "postrider", peer),
                    wal.ratioToPeer(names().get(4), aim, "postrider ordered", peer),
                    wal.ratioToPeer(names().get(5), aim, "postrider ordered without archive", peer));
        }
    }

    private static void add(
            Rounds<Spent> rounds,
            Field field,
            Arena arena,
            int messages,
            BiFunction<Arena, DataSource, Contender> factory)
            throws Exception {
        Probe probe = new Probe(arena.pool());
        Contender contender = field.add(factory.apply(arena, probe));
        rounds.system(contender.name(), () -> spent(arena, contender, probe, messages));
    }

    private static Spent spent(Arena arena, Contender contender, Probe probe, int messages) throws Exception {
        contender.clear();
        arena.settle();
        long statements = probe.statements();
        long wal = arena.walBytes();
        Load.count(arena, contender, messages);
        Receiver receiver = new Receiver(messages);
        contender.start(receiver);
        try {
            receiver.await(messages, PATIENCE);
            Drain.awaitDone(contender);
        } finally {
            contender.stop();
        }
        receiver.verify(messages);
        return new Spent(
                (double) (probe.statements() - statements) / messages, (double) (arena.walBytes() - wal) / messages);
    }
}
