package dev.postrider.jdbc;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A place in a table: what is committed there, what a transaction is about to make of it, and which has it locked. */
final class Cell<R> {

    @Nullable
    R committed;

    @Nullable
    R pending;

    boolean isChanged;

    @Nullable
    Transaction owner;

    final Set<Transaction> sharers = new LinkedHashSet<>();

    @Nullable
    R seenBy(Transaction transaction) {
        return owner == transaction && isChanged ? pending : committed;
    }
}
