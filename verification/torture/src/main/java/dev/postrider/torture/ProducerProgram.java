package dev.postrider.torture;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import java.io.IOException;
import java.util.List;
import java.util.Random;

/** The program of a producer: writes messages to all topics and delivers none. */
final class ProducerProgram {

    private static final int THREADS = 4;
    /** The share of each topic is the number of its entries. */
    private static final List<String> TOPICS =
            List.of(Business.LEDGER, Business.LEDGER, Business.FLOW, Business.NOTICES, Business.NOTICES);

    private ProducerProgram() {}

    public static void main(String[] arguments) throws IOException {
        Assignment assignment = Assignment.parse(arguments);
        PostriderBuilder builder = Business.configured(assignment, assignment.pool(THREADS + 2), topic -> {});
        Postrider postrider = Parent.insist(builder::build);
        Production production = new Production(postrider, assignment.journal("producer"));
        if (assignment.trouble()) {
            production.makeTrouble(assignment.pace().lease());
        }
        production.start("producer-" + assignment.number(), TOPICS, THREADS, assignment.seed());
        Random random = new Random(assignment.seed());
        Parent.tell("ready");
        Parent.obey(order -> {
            switch (order[0]) {
                case "rate" -> production.rate(Double.parseDouble(order[1]));
                case "hold" -> production.hold(Integer.parseInt(order[1]), random);
                case "release" -> production.release();
                case "unscheduled" -> production.scheduleNothing();
                case "stop" -> {
                    production.stop();
                    postrider.close();
                    Parent.leave();
                }
                default -> throw new IllegalArgumentException(order[0]);
            }
        });
    }
}
