package dev.postrider.checker;

import java.util.BitSet;

/** The transactions of producers and how they ended, as far as their producers know. */
final class Transactions {

    final Ids ids = new Ids();
    final BitSet committed = new BitSet();
    final BitSet rolledBack = new BitSet();

    /** When the commit was answered, zero if it was not. */
    final Longs committedAt = new Longs(0);
}
