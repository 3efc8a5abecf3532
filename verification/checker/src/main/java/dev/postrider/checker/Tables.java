package dev.postrider.checker;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The tables at the end of a run. */
final class Tables {

    /** The transactions whose row exists, by number. */
    final BitSet transactions = new BitSet();

    final List<Row> rows = new ArrayList<>();

    /** The number of archive rows of each message. */
    final Ints archived = new Ints(0);

    /** Effects of the inbox: consumer, message and amount of each row. */
    final Ints effectOf = new Ints(-1);

    final Ints effect = new Ints(-1);
    final Longs amount = new Longs(0);

    /** Marks of the inbox: consumer and message of each row. */
    final Ints markedBy = new Ints(-1);

    final Ints marked = new Ints(-1);

    final List<CommandEffect> commandEffects = new ArrayList<>();
    final List<OpenCommand> openCommands = new ArrayList<>();
    final Map<String, Long> counters = new HashMap<>();

    /** The owners in the lane table, one entry for each owned lane. */
    final List<String> laneOwners = new ArrayList<>();

    /** Changes of messages. */
    final Changes changes = new Changes();

    /** Changes of commands, in the order in which they were made. */
    final List<CommandChange> commandChanges = new ArrayList<>();
}
