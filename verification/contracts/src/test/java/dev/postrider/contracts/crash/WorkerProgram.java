package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import java.io.IOException;
import java.time.Duration;

/** A dispatcher that reports each delivery, and then lets it end or holds it, as it is told. */
final class WorkerProgram {

    private WorkerProgram() {}

    public static void main(String[] arguments) throws IOException {
        Pace pace =
                new Pace(Duration.parse(arguments[5]), Duration.parse(arguments[6]), Integer.parseInt(arguments[7]));
        Gate gate = new Gate();
        Postrider postrider = Orders.configured(
                        Orders.pool(Orders.database(arguments)),
                        topic -> topic.deliver(delivery -> {
                                    Parent.tell("delivered", Orders.of(delivery.message()), delivery.attempt());
                                    gate.pass();
                                })
                                .maxInFlight(pace.inFlight()))
                .dispatch(options -> pace.set(options, arguments[4]))
                .listener(WorkerProgram::report)
                .build();
        Parent.tell("ready");
        Parent.obey(command -> {
            switch (command) {
                case "start" -> postrider.start();
                case "hold" -> gate.set(false);
                case "pass" -> gate.set(true);
                default -> throw new IllegalArgumentException(command);
            }
            Parent.tell("did", command);
        });
    }

    private static void report(Event event) {
        if (event instanceof Event.Delivered e) {
            Parent.tell("acknowledged", Orders.of(e.message()), e.attempt());
        } else if (event instanceof Event.LeaseLost e) {
            Parent.tell("lost", Orders.of(e.message()), e.attempt());
        } else if (event instanceof Event.AlreadyFinished e) {
            Parent.tell("skipped", Orders.of(e.message()), e.attempt());
        } else if (event instanceof Event.Failed e) {
            Parent.tell("failed", Orders.of(e.message()), e.attempt(), e.error());
        } else if (event instanceof Event.Buried e) {
            Parent.tell("buried", Orders.of(e.message()), e.attempt(), e.error());
        }
    }
}
