package dev.postrider.checker;

import java.util.ArrayList;
import java.util.List;

/** Everything that the journals say, as numbers: the texts of a million messages would not fit. */
final class History {

    final Ids messages = new Ids();
    final Ids tokens = new Ids();
    final Ids dedupKeys = new Ids();
    final Ids calls = new Ids();
    final Names names = new Names();
    final Names identities = new Names();
    final Names commandRows = new Names();
    final Transactions transactions = new Transactions();
    final Intents intents = new Intents();
    final Receipts receipts = new Receipts();
    final Sendings sendings = new Sendings();
    final Outcomes outcomes = new Outcomes();
    final List<Worker> workers = new ArrayList<>();
    final List<Fault> faults = new ArrayList<>();

    /** When a worker took or gave back lanes of a topic, which is the target: no fault, but not a quiet time either. */
    final List<Fault> laneChanges = new ArrayList<>();

    /** When a worker, which is the target, delivered something that may have killed others, and nothing else meanwhile. */
    final List<Fault> solitudes = new ArrayList<>();

    final List<Action> actions = new ArrayList<>();
    final List<Call> commands = new ArrayList<>();

    /** What consumers handled: consumer and message of each row. */
    final Ints handledBy = new Ints(-1);

    final Ints handled = new Ints(-1);

    /** Texts that belong together, in a form that no two different ones share. */
    static String together(String... parts) {
        return String.join("\t", parts);
    }

    String show(int message) {
        return messages.get(message).toString();
    }
}
