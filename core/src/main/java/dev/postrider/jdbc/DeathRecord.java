package dev.postrider.jdbc;

/** The reason, the error text and the error fingerprint of a dead letter. */
record DeathRecord(String reason, String error, String fingerprint) {}
