package dev.postrider.torture;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.dispatch.Topic;
import dev.postrider.event.Event;
import dev.postrider.message.Message;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** The program of a worker: delivers all topics, handles the messages of the durable consumer, and writes some messages. */
final class WorkerProgram {

    private static final int CONNECTIONS = 16;

    /** The pool size of every second worker, which has fewer handler threads accordingly. */
    private static final int FEW_CONNECTIONS = 8;

    private static final int WRITING_THREADS = 2;

    private final Assignment assignment;
    private final String name;
    private final Journal journal;
    private final Journal handled;
    private final Journal notes;

    private WorkerProgram(Assignment assignment) {
        this.assignment = assignment;
        this.name = "worker-" + assignment.number();
        this.journal = assignment.journal("worker");
        this.handled = assignment.journal("consumer");
        this.notes = assignment.journal("note");
    }

    public static void main(String[] arguments) throws IOException {
        WorkerProgram program = new WorkerProgram(Assignment.parse(arguments));
        PostriderBuilder builder = program.configured();
        Postrider postrider = Parent.insist(builder::build);
        Production production = new Production(postrider, program.assignment.journal("producer"));
        program.journal.write(
                "started", "name", program.name, "pid", ProcessHandle.current().pid());
        Parent.insist(() -> {
            postrider.start();
            return true;
        });
        production.start(program.name, List.of(Business.NOTICES), WRITING_THREADS, program.assignment.seed());
        Parent.tell("ready");
        Parent.obey(order -> {
            switch (order[0]) {
                case "rate" -> production.rate(Double.parseDouble(order[1]));
                case "unscheduled" -> production.scheduleNothing();
                case "stop" -> {
                    production.stop();
                    program.journal.write("stopping");
                    postrider.close();
                    program.journal.write("stopped");
                    Parent.leave();
                }
                default -> throw new IllegalArgumentException(order[0]);
            }
        });
    }

    private PostriderBuilder configured() {
        Courier courier = new Courier(name, assignment.port(), assignment.pace(), journal);
        return Business.configured(
                        assignment,
                        assignment.pool(WRITING_THREADS + 2),
                        topic -> topic.deliver(courier).maxInFlight(Pace.IN_FLIGHT),
                        (name, topic) -> deliverTroubled(name, topic, courier))
                .dispatchOn(assignment.pool(isSmall() ? FEW_CONNECTIONS : CONNECTIONS))
                .inbox(
                        Business.DURABLE,
                        inbox -> inbox.handler(
                                "book",
                                List.of("*"),
                                (message, work) -> Effects.book(work.connection(), Business.DURABLE, message),
                                topic -> topic.maxAttempts(10_000)
                                        .handlerThreads(isSmall() ? 1 : 3)
                                        .maxDelay(Duration.ofSeconds(2))
                                        .baseDelay(Duration.ofMillis(100))))
                .dispatch(options -> assignment.pace().set(options, name))
                .listener(this::hear);
    }

    private boolean isSmall() {
        return assignment.number() % 2 == 0;
    }

    private void deliverTroubled(String topicName, Topic.Builder topic, Courier courier) {
        if (topicName.equals(Business.BULK)) {
            topic.deliver(new BlockingCourier(courier));
        } else {
            topic.process(new TroubledHandler(topicName, assignment.engine(), assignment.pace(), journal))
                    .handlerThreads(isSmall() ? 1 : 4)
                    .handlerTimeout(TroubledHandler.timeout(assignment.pace()));
        }
    }

    private void hear(Event event) {
        if (event instanceof Event.Delivered e) {
            if (isHandled(e.message())) {
                String consumer = Effects.label(e.message().topic().toString(), e.message());
                handled.write("handled", "consumer", consumer, "id", e.message().id(), "mode", "process");
            } else if (isReceived(e.message())) {
                String consumer = Effects.label(Business.DURABLE, e.message());
                handled.write("handled", "consumer", consumer, "id", e.message().subject(), "mode", "durable");
            } else {
                journal.write("acknowledged", "id", e.message().id());
            }
        } else if (event instanceof Event.LeaseLost e && isSent(e.message())) {
            journal.write("lost", "id", e.message().id());
        } else if (event instanceof Event.AlreadyFinished e && isSent(e.message())) {
            notes.write("skipped", "id", e.message().id());
        } else if (event instanceof Event.Failed e && isSent(e.message())) {
            journal.write(
                    "failed",
                    "id",
                    e.message().id(),
                    "attempt",
                    e.attempt(),
                    "delayMicros",
                    e.delay().toNanos() / 1000);
        } else if (event instanceof Event.Buried e && isSent(e.message())) {
            journal.write("buried", "id", e.message().id(), "reason", e.reason(), "attempt", e.attempt());
        } else if (event instanceof Event.Parked e && isSent(e.message())) {
            journal.write("parked", "id", e.message().id(), "reason", e.reason());
        } else if (event instanceof Event.Suspected e) {
            notes.write("alone", "worker", name, "id", e.message().id(), "crashes", e.crashes());
        } else if (event instanceof Event.LanesAcquired e) {
            notes.write("taken", "topic", e.topic(), "count", e.count(), "held", e.owned());
        } else if (event instanceof Event.LanesReleased e) {
            notes.write("released", "topic", e.topic(), "count", e.count(), "held", e.owned());
        } else if (event instanceof Event.StoreFailed e) {
            notes.write("store-failed", "doing", e.doing(), "error", e.error());
        } else if (event instanceof Event.FoundLate e) {
            notes.write("late", "topic", e.topic(), "count", e.count());
        }
    }

    private static boolean isReceived(Message message) {
        return message.topic().isOfInbox();
    }

    /** Whether a handler processes the message in the database. */
    private static boolean isHandled(Message message) {
        return Business.isHandled(message.topic().toString());
    }

    /** Whether the message is sent to the receiver. */
    private static boolean isSent(Message message) {
        return !isReceived(message) && !isHandled(message);
    }
}
