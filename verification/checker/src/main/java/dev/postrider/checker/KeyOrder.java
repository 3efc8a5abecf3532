package dev.postrider.checker;

import java.util.Arrays;

/**
 * The first deliveries of a key come in the order of its numbers, which producers draw under a lock. On topics that block after a
 * failure, a message is sent only after the message before it was accepted or given up. On topics whose keys continue past a dead
 * letter, a rejection counts as given up, even if the worker died before it recorded that and the message is sent again. The order of
 * deliveries is that of the receiver's journal, so no clock matters. Scheduled messages are outside the order.
 */
final class KeyOrder implements Invariant {

    @Override
    public String name() {
        return "I4";
    }

    @Override
    public String title() {
        return "order per key";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        Intents intents = evidence.history.intents;
        Ints addresses = new Ints(-1);
        long checked = 0;
        for (int row = 0; row < intents.size(); row++) {
            int message = intents.message.get(row);
            boolean counts = intents.ordered.get(row)
                    && intents.deliverAt.get(row) == 0
                    && evidence.written(message) == row
                    && evidence.existed(message);
            addresses.set(row, counts ? intents.address.get(row) : -1);
            checked += counts ? 1 : 0;
        }
        Groups keys = Groups.of(addresses, evidence.history.names.size());
        Findings findings = new Findings();
        for (int key = 0; key < evidence.history.names.size(); key++) {
            judge(evidence, keys, key, findings);
        }
        return findings.verdict(checked, "messages of ordered topics came in the order of their keys");
    }

    private static void judge(Evidence evidence, Groups keys, int key, Findings findings) {
        History history = evidence.history;
        long[] inOrder = keys.rows(key)
                .mapToLong(row -> ((long) history.intents.number.get(row) << 32) | row)
                .toArray();
        Arrays.sort(inOrder);
        int latest = -1;
        int latestMessage = -1;
        int waiting = -1;
        for (int place = 0; place < inOrder.length; place++) {
            int message = history.intents.message.get((int) inOrder[place]);
            findings.require(
                    place == 0 || inOrder[place - 1] >> 32 != inOrder[place] >> 32,
                    () -> "message " + describe(history, message) + " has a number that its key has had");
            int ahead = latestMessage;
            int overtaken = waiting;
            if (evidence.receipts().size(message) == 0) {
                waiting = evidence.isDead(message) ? waiting : message;
            } else {
                int first = evidence.receipts().row(message, 0);
                findings.require(
                        first > latest,
                        () -> "message " + describe(history, message) + " came before " + describe(history, ahead));
                findings.require(
                        overtaken < 0,
                        () -> "message " + describe(history, message) + " came, and " + describe(history, overtaken)
                                + " before it did not");
                int needed = needed(evidence, message);
                latestMessage = needed > latest ? message : latestMessage;
                latest = Math.max(latest, needed);
            }
        }
    }

    /** The delivery of a message that must come before the later messages of its key; -1 if they did not have to wait. */
    private static int needed(Evidence evidence, int message) {
        History history = evidence.history;
        int first = evidence.receipts().row(message, 0);
        if (wasGivenUpBefore(evidence, message, history.receipts.time.get(first))) {
            return -1;
        }
        String topic = history.names.get(history.intents.topic.get(evidence.written(message)));
        boolean givenUp =
                evidence.has(message, Outcomes.Kind.BURIED) || evidence.was(message, "skip", "discard", "replay");
        if (!evidence.run.blocks(topic) || givenUp) {
            return first;
        }
        return evidence.receipts()
                .rows(message)
                .filter(row -> isDone(history.receipts.result(row), evidence.run.goesOn(topic)))
                .findFirst()
                .orElse(first);
    }

    private static boolean isDone(Result result, boolean goesOn) {
        return result == Result.OK || result == Result.SLOW || (goesOn && result == Result.POISON);
    }

    /** Whether an operator or a worker buried the message before its first delivery, so that it was replayed later. */
    private static boolean wasGivenUpBefore(Evidence evidence, int message, long time) {
        History history = evidence.history;
        return evidence.actions(message).stream()
                        .anyMatch(action -> action.name().equals("skip") && action.time() < time)
                || evidence.outcomes()
                        .rows(message)
                        .anyMatch(row -> history.outcomes.kind(row) == Outcomes.Kind.BURIED
                                && history.outcomes.time.get(row) < time);
    }

    private static String describe(History history, int message) {
        int row = history.intents.last.get(message);
        return history.show(message) + " (number " + history.intents.number.get(row) + " of "
                + history.names.get(history.intents.address.get(row)).replace('\t', '/') + ")";
    }
}
