package dev.postrider.simulation;

import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Where messages go: it takes most of them, refuses some, and does not always answer in time or at all. What arrives there is written
 * down for the judges of the run.
 */
final class Destination {

    static final Duration TIMEOUT = Duration.ofMillis(1900);

    /** A header of messages that kill the node that sends them. */
    static final String POISON = "poison";

    private static final long LONGEST_WAY = 60_000_000L;

    /** What it says to a message. */
    enum Answer {
        TAKEN,
        /** Not now. */
        REFUSED,
        /** Never. */
        REJECTED
    }

    /** A message arrived. */
    record Arrival(long atNanos, UUID id, int attempt, String from, Answer answer) {}

    private final Conductor conductor;
    private final Chance chance;
    private final Network network;
    private final List<Arrival> arrivals = new ArrayList<>();
    private final int refuses;
    private final int rejects;
    private final int losesAnswers;
    private final int answersLate;
    private final int answersSlowly;
    private int unanswered;
    private boolean calm;

    /**
     * @param mayStaySilent whether answers may be lost or late
     * @param rejectsOften if it rejects anything at all
     */
    Destination(Conductor conductor, boolean mayStaySilent, boolean rejectsOften) {
        this.conductor = conductor;
        this.chance = conductor.chance();
        this.network = new Network(conductor, new Host("destination"));
        this.refuses = chance.oneIn(3) ? 0 : (int) chance.between(3, 20);
        this.rejects = chance.oneIn(2) ? 0 : (int) chance.between(rejectsOften ? 2 : 10, rejectsOften ? 6 : 60);
        this.losesAnswers = !mayStaySilent || chance.oneIn(2) ? 0 : (int) chance.between(8, 60);
        this.answersSlowly = chance.oneIn(2) ? 0 : (int) chance.between(3, 30);
        this.answersLate = !mayStaySilent || chance.oneIn(2) ? 0 : (int) chance.between(5, 40);
    }

    /** A handler tried a message in vain. */
    void triedInVain(UUID id, Host host) {
        arrivals.add(new Arrival(conductor.nanos(), id, 0, host.name(), Answer.REFUSED));
    }

    boolean isCalm() {
        return calm;
    }

    List<Arrival> arrivals() {
        return arrivals;
    }

    /** How many answers did not come in time. */
    int unanswered() {
        return unanswered;
    }

    void calm() {
        calm = true;
    }

    /** The way there from one machine. */
    Transport from(Host host) {
        Network back = new Network(conductor, host);
        return new Transport() {
            @Override
            public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
                return send(host, back, delivery);
            }

            @Override
            public Duration timeout() {
                return TIMEOUT;
            }
        };
    }

    /** Its machine may stand still before the message is on its way. */
    private CompletionStage<DeliveryResult> send(Host host, Network back, Delivery delivery) {
        CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
        if (delivery.message().headers().containsKey(POISON)) {
            conductor.note(host.name() + " is killed by " + delivery.message().type());
            host.kill();
        }
        conductor.pass(chance.between(0, 300) * 1000);
        network.in(chance.between(1_000, LONGEST_WAY), () -> arrive(host, back, delivery, answer));
        return answer;
    }

    private void arrive(Host host, Network back, Delivery delivery, CompletableFuture<DeliveryResult> answer) {
        Answer said = answer();
        Message message = delivery.message();
        arrivals.add(new Arrival(conductor.nanos(), message.id().value(), delivery.attempt(), host.name(), said));
        conductor.note("arrival of " + message.key() + " " + message.type() + " from " + host.name() + ", attempt "
                + delivery.attempt() + ": " + said);
        if (!calm && chance.oneIn(losesAnswers)) {
            unanswered++;
            return;
        }
        boolean late = !calm && chance.oneIn(answersLate);
        unanswered += late ? 1 : 0;
        back.in(wayBack(late), () -> answer.complete(result(said)));
    }

    private long wayBack(boolean late) {
        if (late) {
            return chance.between(TIMEOUT.toNanos(), 4 * TIMEOUT.toNanos());
        }
        boolean slow = !calm && chance.oneIn(answersSlowly);
        return chance.between(1_000, slow ? TIMEOUT.toNanos() - 2 * LONGEST_WAY : LONGEST_WAY);
    }

    private Answer answer() {
        if (!calm && chance.oneIn(refuses)) {
            return Answer.REFUSED;
        }
        return !calm && chance.oneIn(rejects) ? Answer.REJECTED : Answer.TAKEN;
    }

    private static DeliveryResult result(Answer answer) {
        return switch (answer) {
            case TAKEN -> DeliveryResult.delivered();
            case REFUSED -> DeliveryResult.failed("not now");
            case REJECTED -> DeliveryResult.rejected("never");
        };
    }
}
