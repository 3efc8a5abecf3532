package dev.postrider.jdbc;

import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.store.StorageOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decrypts the payloads of claimed rows with the ciphers that this node declares. It uses no connection. Thread-safe. */
final class PayloadOpener {

    private final StorageOptions options;

    PayloadOpener(StorageOptions options) {
        this.options = options;
    }

    List<ClaimedRow> open(List<ClaimedRow> rows) {
        return rows.stream().noneMatch(ClaimedRow::isSealed)
                ? rows
                : rows.stream().map(this::open).toList();
    }

    /** Returns the row with its message, or with the reason why it has none. A row whose cipher is not available stays sealed. */
    ClaimedRow open(ClaimedRow row) {
        @Nullable ReadMessage read = row.sealed();
        if (read == null) {
            return row;
        }
        try {
            return row.opened(read.open(
                    options.cipher(read.message().topic()), options.tables().maxPayloadBytes()));
        } catch (CipherUnavailableException e) {
            return row.postponed("The cipher of the payload is not available: " + e.getMessage());
        } catch (InvalidMessageException | IllegalArgumentException e) {
            return row.unreadable(String.valueOf(e.getMessage()));
        }
    }
}
