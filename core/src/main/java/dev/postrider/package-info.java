/**
 * The front door: {@link dev.postrider.Postrider} declares topics, writes messages and delivers them. Everything else is in the
 * rooms behind it.
 */
@NullMarked
package dev.postrider;

import org.jspecify.annotations.NullMarked;
