package dev.postrider.admin;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of an action by filter. Immutable.
 *
 * @param changed the number of changed messages; in a dry run, of messages that the filter selects
 * @param skipped the number of selected messages that were not changed: another session had locked them, or they were in
 *     another state or place of their key by then
 * @param next where to continue; null when no further message matches. Otherwise {@code changed} and {@code skipped} mean
 *     "more than"
 * @param sample in a dry run, the first selected messages; otherwise empty
 */
public record ChangeResult(
        int changed, int skipped, @Nullable String next, List<MessageSummary> sample) {

    public ChangeResult {
        sample = List.copyOf(sample);
    }
}
