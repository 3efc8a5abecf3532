package dev.postrider.simulation;

import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.jdbc.SimulatedDatabase.Change;
import dev.postrider.jdbc.SimulatedDatabase.Standing;
import dev.postrider.simulation.Destination.Answer;
import dev.postrider.simulation.Destination.Arrival;
import dev.postrider.simulation.World.Intended;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Judges a run by what was written, what arrived, and what the table went through. It knows the promise and nothing of the code that
 * keeps it.
 */
final class Oracle {

    /** A message that costs so many nodes is given up, and what is behind it goes on as after a rejection. */
    private static final int CONVICTED = 4;

    private final World world;
    private final Map<UUID, Intended> intended;
    private final List<Arrival> arrivals;
    private final Map<UUID, List<Change>> changes = new HashMap<>();
    private final Map<UUID, List<Arrival>> arrivalsOf = new HashMap<>();
    private final List<String> violations = new ArrayList<>();

    private Oracle(World world) {
        this.world = world;
        this.intended = world.intended();
        this.arrivals = new ArrayList<>(world.destination().arrivals());
        world.database()
                .changes()
                .forEach(change -> changes.computeIfAbsent(change.id(), id -> new ArrayList<>())
                        .add(change));
        world.database()
                .effects()
                .forEach(
                        effect -> arrivals.add(new Arrival(effect.atNanos(), effect.id(), 0, "handler", Answer.TAKEN)));
        arrivals.sort(Comparator.comparingLong(Arrival::atNanos));
        arrivals.forEach(arrival -> arrivalsOf
                .computeIfAbsent(arrival.id(), id -> new ArrayList<>())
                .add(arrival));
    }

    /** What the promise does not allow, in words; empty when it was kept. */
    static List<String> violations(World world) {
        Oracle oracle = new Oracle(world);
        oracle.noPhantom();
        oracle.noLoss();
        if (!world.database().hasFailedOver()) {
            oracle.order(); // an outcome that is lost with its commit is not there to wait for
        }
        oracle.violations.addAll(world.alarms());
        oracle.noDuplicates();
        oracle.attemptsEnd();
        oracle.nothingStuck();
        oracle.effectsOnce();
        oracle.onlyTheGuiltyAreBuried();
        oracle.violations.addAll(CommandJudge.violations(world));
        oracle.violations.addAll(ReceptionJudge.violations(world));
        oracle.violations.addAll(world.database().stale());
        return oracle.violations;
    }

    private void violated(String what) {
        violations.add(what);
    }

    private String name(UUID id) {
        Intended message = world.meant(id);
        return message.topic().topic() + " " + (message.key() == null ? id : message.key() + " n" + message.place());
    }

    /** Nothing arrives that was not committed before. */
    private void noPhantom() {
        for (Arrival arrival : arrivals) {
            Change first = changes.getOrDefault(arrival.id(), List.of()).stream()
                    .findFirst()
                    .orElse(null);
            boolean wasThere = first != null && first.atNanos() <= arrival.atNanos();
            if (!wasThere && !world.database().lost().contains(arrival.id())) {
                violated("phantom: " + name(arrival.id()) + " arrived before it was committed, or never was");
            }
        }
    }

    /** No message has more attempts than are allowed. */
    private void attemptsEnd() {
        for (Arrival arrival : arrivals) {
            if (arrival.attempt() > World.MAX_ATTEMPTS) {
                violated("attempts: " + name(arrival.id()) + " was sent in attempt " + arrival.attempt());
            }
        }
    }

    /** What leaves the table by an acknowledgement had arrived and was taken; what leaves it otherwise was discarded. */
    private void noLoss() {
        changes.forEach((id, all) -> {
            for (Change change : all) {
                boolean removed = change.to() == null && !change.by().equals("commit");
                if (removed && !wasTaken(id, change.atNanos())) {
                    violated("loss: " + name(id) + " was removed by '" + change.by() + "' and never taken");
                }
            }
        });
    }

    private boolean wasTaken(UUID id, long before) {
        return arrivalsOf.getOrDefault(id, List.of()).stream()
                .anyMatch(arrival -> arrival.atNanos() <= before && arrival.answer() == Answer.TAKEN);
    }

    /** When a message arrives for the first time, all before it in its key were taken, or given up for good. */
    private void order() {
        Map<String, List<Intended>> byKey = new HashMap<>();
        for (Intended message : intended.values()) {
            boolean ordered = message.key() != null && world.database().lanesOf(message.topic()) > 0;
            if (ordered && !message.beside() && changes.containsKey(message.id())) {
                byKey.computeIfAbsent(message.key(), key -> new ArrayList<>()).add(message);
            }
        }
        byKey.values().forEach(this::order);
    }

    private void order(List<Intended> key) {
        key.sort(Comparator.comparingInt(Intended::place));
        for (int later = 1; later < key.size(); later++) {
            Arrival first = first(key.get(later).id());
            for (int earlier = 0; first != null && earlier < later; earlier++) {
                UUID before = key.get(earlier).id();
                if (key.get(earlier).poison()) {
                    continue; // it never arrives, and is given up by the node that is told that it kills
                }
                if (!wasTaken(before, first.atNanos()) && !wasGivenUp(before, first.atNanos())) {
                    violated("order: " + name(key.get(later).id()) + " arrived before " + name(before));
                }
            }
        }
    }

    private @Nullable Arrival first(UUID id) {
        return arrivalsOf.getOrDefault(id, List.of()).stream().findFirst().orElse(null);
    }

    /** Rejected, or refused as often as may be, or convicted, or dead, or discarded; where later ones do not wait, failed once. */
    private boolean wasGivenUp(UUID id, long before) {
        boolean answered = arrivalsOf.getOrDefault(id, List.of()).stream()
                .filter(arrival -> arrival.atNanos() <= before)
                .anyMatch(arrival -> arrival.answer() == Answer.REJECTED
                        || arrival.attempt() >= World.MAX_ATTEMPTS
                        || world.policy() == FailurePolicy.CONTINUE);
        return answered
                || refusals(id, before) >= World.MAX_ATTEMPTS
                || changes.getOrDefault(id, List.of()).stream()
                        .filter(change -> change.atNanos() <= before)
                        .anyMatch(change -> change.to() == null
                                || change.to().equals("DEAD")
                                || hasFailed(change)
                                || change.crashes() >= CONVICTED);
    }

    /** A delivery that had no answer in time has failed, too, although its message may be on the way and arrive later. */
    private boolean hasFailed(Change change) {
        return world.policy() == FailurePolicy.CONTINUE
                && "PENDING".equals(change.from())
                && "SCHEDULED".equals(change.to());
    }

    private long refusals(UUID id, long before) {
        return arrivalsOf.getOrDefault(id, List.of()).stream()
                .filter(arrival -> arrival.atNanos() <= before && arrival.answer() == Answer.REFUSED)
                .count();
    }

    /** A message that was taken and answered in time is not sent again because connections were cut, and for no other small reason. */
    private void noDuplicates() {
        int again = 0;
        for (List<Arrival> all : arrivalsOf.values()) {
            long taken = all.stream()
                    .filter(arrival -> arrival.answer() == Answer.TAKEN)
                    .count();
            again += (int) Math.max(taken - 1, 0);
        }
        int excused = world.destination().unanswered();
        if (world.misfortune().onlyCuts() && !world.misfortune().poisons() && again > excused) {
            violated("duplicates: " + again + ", with " + excused
                    + " answers that did not come in time and cut connections");
        }
    }

    /** What is handled in a transaction has one effect, unless it is there still or was removed by an operator. */
    private void effectsOnce() {
        Map<UUID, Integer> effects = new HashMap<>();
        world.database().effects().forEach(effect -> effects.merge(effect.id(), 1, Integer::sum));
        Set<UUID> there = new HashSet<>();
        world.database().standing().forEach(row -> there.add(row.id()));
        changes.keySet().stream()
                .filter(id -> world.meant(id).topic().equals(World.WORK))
                .forEach(id -> {
                    int expected =
                            there.contains(id) || world.database().discarded().contains(id) ? 0 : 1;
                    int found = effects.getOrDefault(id, 0);
                    if (found != expected) {
                        violated("effect: " + name(id) + " took effect " + found + " times and not " + expected);
                    }
                });
    }

    /** Where nodes die by nothing else, nothing else is buried for it. */
    private void onlyTheGuiltyAreBuried() {
        if (world.misfortune().poisons()) {
            world.database().standing().stream()
                    .filter(row -> "WORKER_LOST".equals(row.reason()))
                    .map(row -> world.meant(row.id()))
                    .filter(message -> message.topic().equals(World.ORDERS) && !message.poison())
                    .forEach(message -> violated("innocent: " + name(message.id()) + " was buried for another"));
        }
    }

    private void nothingStuck() {
        unfinished(world.database().standing(), world::meant)
                .forEach(row -> violated("stuck: " + name(row.id()) + " is " + row.state() + " after " + row.attempts()
                        + " attempts and " + row.crashes() + " crashes"));
    }

    private static boolean isWaiting(Standing row) {
        return row.state().equals("BLOCKED") || row.state().equals("RETRY");
    }

    /** What is neither dead nor waiting for an operator, nor behind something that is. */
    static List<Standing> unfinished(Collection<Standing> standing, Function<UUID, Intended> meant) {
        Set<String> parked = new HashSet<>();
        List<Standing> left = new ArrayList<>();
        for (Standing row : standing) {
            Intended message = meant.apply(row.id());
            if (row.state().equals("PARKED")) {
                parked.add(String.valueOf(message.key()));
            } else if (!row.state().equals("DEAD")
                    && !(isWaiting(row) && parked.contains(String.valueOf(message.key())))) {
                left.add(row);
            }
        }
        return left;
    }
}
