package dev.postrider.admin;

import java.time.Duration;

/**
 * The transaction of the database that keeps removed rows from being cleaned up for the longest time. Immutable.
 *
 * @param session the process id on PostgreSQL, the connection id on MySQL and MariaDB
 * @param description what the database says about the session: its user, application and state
 * @param age the time since the transaction began
 */
public record OldestTransaction(String session, String description, Duration age) {}
