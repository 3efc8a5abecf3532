/**
 * Claims messages, hands them to their transports and writes what came of it. The only room that starts threads; it knows no SQL and no broker clients.
 */
@NullMarked
package dev.postrider.dispatch;

import org.jspecify.annotations.NullMarked;
