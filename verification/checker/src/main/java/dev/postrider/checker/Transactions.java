package dev.postrider.checker;

import java.util.BitSet;

/** The transactions of producers, and their ends as far as the producers' journals have them. */
final class Transactions {

    final Ids ids = new Ids();
    final BitSet committed = new BitSet();
    final BitSet rolledBack = new BitSet();

    /** The time at which the commit was confirmed, or zero. */
    final Longs committedAt = new Longs(0);
}
