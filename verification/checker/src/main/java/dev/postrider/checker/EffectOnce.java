package dev.postrider.checker;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * A consumer takes effect once for each message: never twice, and not zero times if the consumer reported it as handled or its mark
 * exists. The counted sums match the amounts.
 */
final class EffectOnce implements Invariant {

    @Override
    public String name() {
        return "I5";
    }

    @Override
    public String title() {
        return "effect once";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        Tables tables = evidence.tables;
        if (tables == null) {
            return new Verdict.NotChecked("the effects are in the tables");
        }
        History history = evidence.history;
        Findings findings = new Findings();
        long[] effects = pairs(tables.effectOf, tables.effect);
        for (int place = 1; place < effects.length; place++) {
            long effect = effects[place];
            findings.require(effects[place - 1] != effect, () -> describe(history, effect) + " took effect again");
        }
        for (long handled : pairs(history.handledBy, history.handled)) {
            findings.require(
                    Arrays.binarySearch(effects, handled) >= 0,
                    () -> describe(history, handled) + " was handled without an effect");
        }
        marks(history, tables, findings);
        sums(history, tables, findings);
        return findings.verdict(effects.length, "messages took effect once for their consumer");
    }

    /** A mark without an effect is a lost message, unless a durable inbox still has the message or a dead letter of it. */
    private static void marks(History history, Tables tables, Findings findings) {
        Map<String, Long> waiting = new HashMap<>();
        tables.rows.forEach(row -> waiting.merge(consumerOf(row.topic()), 1L, Long::sum));
        long[] effects = new long[tables.effect.size()];
        for (int row = 0; row < effects.length; row++) {
            String consumer = consumer(history.names.get(tables.effectOf.get(row)));
            effects[row] = ((long) history.names.of(consumer) << 32) | tables.effect.get(row);
        }
        Arrays.sort(effects);
        for (int row = 0; row < tables.marked.size(); row++) {
            String consumer = history.names.get(tables.markedBy.get(row));
            long mark = ((long) history.names.of(consumer(consumer)) << 32) | tables.marked.get(row);
            if (Arrays.binarySearch(effects, mark) < 0) {
                long left = waiting.merge(consumer, -1L, Long::sum);
                findings.require(left >= 0, () -> describe(history, mark) + " is marked, and took no effect");
            }
        }
    }

    /** The topic of a handler is {@code inbox/<consumer>.<handler>}. */
    private static String consumerOf(String topic) {
        return topic.startsWith("inbox/") ? consumer(topic.substring("inbox/".length())) : "";
    }

    /** The name without the handler. */
    private static String consumer(String name) {
        int dot = name.indexOf('.');
        return dot < 0 ? name : name.substring(0, dot);
    }

    private static void sums(History history, Tables tables, Findings findings) {
        Map<String, Long> sums = new HashMap<>();
        for (int row = 0; row < tables.effect.size(); row++) {
            sums.merge("sum/" + history.names.get(tables.effectOf.get(row)), tables.amount.get(row), Long::sum);
        }
        sums.forEach((name, sum) -> {
            long counted = tables.counters.getOrDefault(name, sum);
            findings.require(counted == sum, () -> name + " is " + counted + ", and its effects come to " + sum);
        });
    }

    private static long[] pairs(Ints consumers, Ints messages) {
        long[] pairs = new long[messages.size()];
        for (int row = 0; row < pairs.length; row++) {
            pairs[row] = ((long) consumers.get(row) << 32) | messages.get(row);
        }
        Arrays.sort(pairs);
        return pairs;
    }

    private static String describe(History history, long pair) {
        return "message " + history.show((int) pair) + " for " + history.names.get((int) (pair >> 32));
    }
}
