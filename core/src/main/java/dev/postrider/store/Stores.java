package dev.postrider.store;

/**
 * What a dispatcher needs of a database. Immutable.
 *
 * @param messages unordered topics
 * @param lanes ordered topics
 * @param retention what is past its time
 */
public record Stores(MessageStore messages, LaneStore lanes, RetentionStore retention) {}
