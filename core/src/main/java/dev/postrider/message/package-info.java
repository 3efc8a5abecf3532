/**
 * What travels: a message, its id, its payload and its headers, and the keys that make a logical event unique. Immutable values, checked when they are built. This room knows nothing of databases, threads or brokers.
 */
@NullMarked
package dev.postrider.message;

import org.jspecify.annotations.NullMarked;
