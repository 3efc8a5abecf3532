/**
 * Messages and their parts: id, topic name, payload, headers, and the keys that make a logical event unique. All
 * types are immutable values that are checked when they are built. This package does not depend on databases, threads
 * or brokers.
 */
@NullMarked
package dev.postrider.message;

import org.jspecify.annotations.NullMarked;
