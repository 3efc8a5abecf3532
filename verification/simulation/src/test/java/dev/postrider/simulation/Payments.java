package dev.postrider.simulation;

import dev.postrider.idempotency.OutcomeProbe;
import dev.postrider.idempotency.OutcomeProbe.Finding;
import dev.postrider.idempotency.OutcomeProbe.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Another system, in which leased commands have their effects. It executes every request, repeated or not. A probe that asks it about a
 * command that has not happened can rely on the answer: a request that was on its way then is refused when it arrives.
 */
final class Payments {

    /** What was done for a command, with which result. */
    record Payment(String key, String result) {}

    /** An attempt that may come to a payment. */
    static final class Ticket {
        private final UUID reference;
        private boolean refused;

        private Ticket(UUID reference) {
            this.reference = reference;
        }
    }

    private final Conductor conductor;
    private final Chance chance;
    private final List<Payment> payments = new ArrayList<>();
    private final Map<UUID, String> results = new HashMap<>();
    private final Map<UUID, String> once = new HashMap<>();
    private final Map<UUID, List<Ticket>> tickets = new LinkedHashMap<>();
    private final Set<UUID> closed = new HashSet<>();
    private boolean calm;

    Payments(Conductor conductor) {
        this.conductor = conductor;
        this.chance = conductor.chance();
    }

    List<Payment> payments() {
        return payments;
    }

    void calm() {
        calm = true;
    }

    Ticket begin(UUID reference) {
        Ticket ticket = new Ticket(reference);
        tickets.computeIfAbsent(reference, absent -> new ArrayList<>()).add(ticket);
        return ticket;
    }

    /** It surely did not happen. */
    static final class RefusedException extends IllegalStateException {

        private static final long serialVersionUID = 1;

        RefusedException() {
            super("refused");
        }
    }

    /**
     * @return its result
     * @throws IllegalStateException when the answer was lost: it happened
     */
    String pay(Ticket ticket, String key) {
        travel();
        String result = paid(ticket, key);
        travel();
        loseAnswer();
        return result;
    }

    private void loseAnswer() {
        if (!calm && chance.oneIn(6)) {
            conductor.note("the answer to a payment is lost");
            throw new IllegalStateException("no answer");
        }
    }

    /** The same for a request with a key of its own: it is executed once. */
    String payOnce(Ticket ticket, UUID downstream, String key) {
        travel();
        String before = once.get(downstream);
        String result = before == null ? paid(ticket, key) : before;
        once.put(downstream, result);
        travel();
        loseAnswer();
        return result;
    }

    private String paid(Ticket ticket, String key) {
        if (ticket.refused || closed.contains(ticket.reference)) {
            throw new RefusedException();
        }
        return pay(ticket.reference, key);
    }

    private String pay(UUID reference, String key) {
        String result = chance.id().toString();
        conductor.note("payment for " + key);
        payments.add(new Payment(key, result));
        results.put(reference, result);
        return result;
    }

    private void travel() {
        boolean slow = !calm && chance.oneIn(4);
        conductor.pass(chance.between(0, slow ? 2_000_000 : 30_000) * 1000);
    }

    /** Says what became of it, if it is in the mood to. */
    OutcomeProbe.Finding<String> probe(OutcomeProbe.Question question) {
        UUID reference = question.reference();
        travel();
        if (!calm && chance.oneIn(6)) {
            conductor.pass(chance.between(2_000, 10_000) * 1_000_000); // longer than callers wait
        }
        if (!calm && chance.oneIn(4)) {
            return new Finding<>(Kind.UNKNOWN, null);
        }
        boolean happened = refuse(reference);
        conductor.note("probe of " + reference + ": " + (happened ? "it happened" : "it did not happen"));
        String result = results.get(reference);
        travel();
        return happened ? new Finding<>(Kind.HAPPENED, result) : new Finding<>(Kind.DID_NOT_HAPPEN, null);
    }

    private boolean refuse(UUID reference) {
        boolean happened = results.containsKey(reference);
        if (!happened) {
            tickets.getOrDefault(reference, List.of()).forEach(ticket -> ticket.refused = true);
        }
        return happened;
    }

    /** Nothing is done for it any more, unless it happened before. Says whether it did. */
    boolean close(UUID reference) {
        boolean happened = refuse(reference);
        if (!happened) {
            closed.add(reference);
        }
        return happened;
    }

    void reopen(UUID reference) {
        closed.remove(reference);
    }
}
