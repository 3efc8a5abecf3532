package dev.postrider.admin;

import java.util.List;

/**
 * Failures in groups, the largest first. Immutable.
 *
 * @param complete whether all selected messages were counted. Otherwise only the newest were examined, and each count
 *     means "more than"
 */
public record FailureGroups(List<FailureGroup> groups, boolean complete) {

    public FailureGroups {
        groups = List.copyOf(groups);
    }
}
