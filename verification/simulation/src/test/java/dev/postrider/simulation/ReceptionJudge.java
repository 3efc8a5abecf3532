package dev.postrider.simulation;

import dev.postrider.internal.store.InboxHandler;
import dev.postrider.jdbc.SimulatedDatabase.Deed;
import dev.postrider.message.DeterministicKey;
import dev.postrider.message.TopicName;
import dev.postrider.simulation.Receivers.Given;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** Judges what was done about the messages of a broker. */
final class ReceptionJudge {

    private final World world;
    private final List<String> violations = new ArrayList<>();

    private ReceptionJudge(World world) {
        this.world = world;
    }

    static List<String> violations(World world) {
        ReceptionJudge judge = new ReceptionJudge(world);
        if (world.receivers().open() > 0) {
            judge.violations.add("stuck: " + world.receivers().open() + " messages were not received");
        } else if (!world.database().hasFailedOver()) {
            world.receivers().given().forEach(judge::once);
        }
        return judge.violations;
    }

    /** The broker was told that it arrived: it took effect once, with each handler that has nothing left to do. */
    private void once(Given given) {
        if (!given.durable()) {
            once(Receivers.INLINE + "/" + given.id(), 1);
            return;
        }
        Set<TopicName> waiting = world.database().standing().stream()
                .map(row -> world.database().topicOf(row.id()))
                .collect(Collectors.toSet());
        Set<UUID> dead = world.database().changes().stream()
                .filter(change -> "DEAD".equals(change.to()))
                .map(change -> change.id())
                .collect(Collectors.toSet());
        for (String handler : Receivers.HANDLERS) {
            boolean left = waiting.contains(InboxHandler.topic(Receivers.DURABLE, handler));
            // Its attempts may be used up, by handlers that fail or lose their connection; dead letters are purged in
            // some runs.
            boolean died = dead.contains(row(given, InboxHandler.topic(Receivers.DURABLE, handler)));
            once(handler + "/" + given.id(), left || died ? 0 : 1);
        }
    }

    /** The id of a handler's own row of the message, as docs/inbox.md computes it. */
    private static UUID row(Given given, TopicName handler) {
        return DeterministicKey.of(given.message().tenant(), "inbox", handler.toString(), given.id(), "1");
    }

    private void once(String what, int least) {
        long found = world.database().deeds().stream()
                .map(Deed::what)
                .filter(what::equals)
                .count();
        if (found > 1 || found < least) {
            violations.add("received: " + what + " took effect " + found + " times");
        }
    }
}
