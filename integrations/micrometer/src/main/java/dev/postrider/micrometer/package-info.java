/** Metrics of outbox, inbox and commands for Micrometer. They are filled from events, and no scrape asks the database. */
@NullMarked
package dev.postrider.micrometer;

import org.jspecify.annotations.NullMarked;
