package dev.postrider.internal.store;

import dev.postrider.admin.Operation;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The background operations of the database, which nodes work off in steps. Thread-safe, also across nodes. All methods throw
 * {@link dev.postrider.error.StoreException} when the database fails.
 */
public interface OperationStore {

    /**
     * What a call did.
     *
     * @param operation the operation after its step; null if none was due
     * @param first whether it was the first step of the operation
     * @param next the time after which to call again; zero after a step
     */
    record OperationStep(@Nullable Operation operation, boolean first, Duration next) {}

    /**
     * Makes one step of the operation that is due for the longest time. One node is elected for each step, by a conditional change. The
     * changes of the step and the progress of the operation are one transaction.
     *
     * @param node the name of this node, for operators
     * @param lease how long no other node makes a step, if this one is lost
     */
    OperationStep step(String node, Duration lease);
}
