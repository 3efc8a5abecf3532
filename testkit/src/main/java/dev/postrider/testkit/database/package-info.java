/**
 * Real database servers for tests, without containers. {@link dev.postrider.testkit.database.Databases} starts them from binaries in
 * Maven artifacts. A {@link dev.postrider.testkit.database.DatabaseServer} can be killed and restarted, except H2, and ends with the
 * JVM at the latest. Commits are durable, so a test can rely on the data that it reads after a crash.
 */
@NullMarked
package dev.postrider.testkit.database;

import org.jspecify.annotations.NullMarked;
