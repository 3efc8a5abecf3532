package dev.postrider.admin;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A lane of an ordered topic. Immutable.
 *
 * @param owner the node that holds it; null when it is free
 * @param until when the lease ends, or since when the lane is free
 * @param expired whether it has an owner whose lease is over: lost, or about to be missed
 */
public record LaneStatus(int lane, @Nullable String owner, Instant until, boolean expired) {}
