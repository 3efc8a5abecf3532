package dev.postrider.checker;

import java.util.ArrayList;
import java.util.List;

/** The content of the journals, as numbers: the texts of a million messages would not fit into memory. */
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

    /** The times at which a worker acquired or released lanes; the target is the topic. These are no faults, but no quiet times either. */
    final List<Fault> laneChanges = new ArrayList<>();

    final List<Isolation> isolations = new ArrayList<>();

    final List<Action> actions = new ArrayList<>();
    final List<Call> commands = new ArrayList<>();

    /** Handled messages: consumer and message of each row. */
    final Ints handledBy = new Ints(-1);

    final Ints handled = new Ints(-1);

    /** Joins texts to one that is unique for them. */
    static String together(String... parts) {
        return String.join("\t", parts);
    }

    String show(int message) {
        return messages.get(message).toString();
    }
}
