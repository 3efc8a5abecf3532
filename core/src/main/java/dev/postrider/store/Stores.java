package dev.postrider.store;

/**
 * What a dispatcher needs of a database. Immutable.
 *
 * @param messages unordered topics
 * @param lanes ordered topics
 * @param retention what is past its time
 * @param handling topics whose messages are handled in the database itself
 */
public record Stores(MessageStore messages, LaneStore lanes, RetentionStore retention, HandlingStore handling) {}
