package dev.postrider.internal.store;

import dev.postrider.store.ClaimRequest;
import dev.postrider.store.MessageStore;
import java.util.List;

/** A {@link MessageStore} whose claims show the dispatcher every claimed row. Thread-safe. */
public interface RowStore extends MessageStore {

    /**
     * Claims messages as {@link #claim} does. It buries none: unreadable rows, and messages beyond the attempt limit, are claims too, so that
     * the caller reports and counts their outcome.
     */
    List<RowClaim> claimRows(ClaimRequest request);
}
