/**
 * Claims messages, delivers them through transports and handlers, and writes the outcomes. The only package that starts
 * background threads. It contains no SQL and no broker clients.
 */
@NullMarked
package dev.postrider.dispatch;

import org.jspecify.annotations.NullMarked;
