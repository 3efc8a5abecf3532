package dev.postrider.jdbc;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A transaction of the simulated database. */
final class Transaction {

    /** 0 until it writes or locks something, as on PostgreSQL. */
    long number;

    /** Of which life of the server. */
    final int life;

    /** What it locked, in that order. */
    final List<Cell<?>> locked = new ArrayList<>();

    /** Done when it commits. */
    final List<Runnable> onCommit = new ArrayList<>();

    /** Those whose end it waits for at the moment. */
    Set<Transaction> waitsFor = new LinkedHashSet<>();

    /** By the database's clock. */
    final long begunAt;

    /** It skips locked rows and waits for no other transaction. */
    boolean isClaim;

    /** It writes messages, and waits for no claim. */
    boolean isProducer;

    /** How long it waits for a lock; 0 for as long as it takes. */
    long lockTimeout;

    boolean committed;
    boolean ended;

    Transaction(int life, long begunAt) {
        this.life = life;
        this.begunAt = begunAt;
    }
}
