/**
 * The entry point of the library: {@link dev.postrider.Postrider} declares topics, writes messages and delivers them.
 * The other packages hold its parts.
 */
@NullMarked
package dev.postrider;

import org.jspecify.annotations.NullMarked;
