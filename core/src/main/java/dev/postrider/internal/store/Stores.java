package dev.postrider.internal.store;

/**
 * The stores that a dispatcher uses. Immutable.
 *
 * @param messages the store of unordered topics
 * @param lanes the store of ordered topics
 * @param retention the purge of old rows
 * @param handling the transactions of handlers
 */
public record Stores(RowStore messages, LaneStore lanes, RetentionStore retention, HandlingStore handling) {}
