/**
 * The rows of idempotent commands: claims, completions, leases and sweeps.
 */
@NullMarked
package dev.postrider.jdbc.command;

import org.jspecify.annotations.NullMarked;
