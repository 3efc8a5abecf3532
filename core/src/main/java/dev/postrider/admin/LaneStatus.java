package dev.postrider.admin;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The status of one lane of an ordered topic. Immutable.
 *
 * @param owner the node that owns the lane; null when the lane is free
 * @param until when the lease ends, or since when the lane is free
 * @param expired whether the lane has an owner whose lease has expired; the owner is lost or late
 */
public record LaneStatus(int lane, @Nullable String owner, Instant until, boolean expired) {}
