/**
 * Real database servers without containers. {@link dev.postrider.testkit.database.Databases} starts them from binaries that
 * come as Maven artifacts; each {@link dev.postrider.testkit.database.DatabaseServer} can be killed and restarted, and none
 * outlives the JVM. They are set up to keep what they commit, so that a test can believe what it reads after a crash.
 */
@NullMarked
package dev.postrider.testkit.database;

import org.jspecify.annotations.NullMarked;
