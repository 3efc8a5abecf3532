/**
 * The judge of a torture run. It reads the journals that the processes left and the tables as they are at the end, and says of each
 * invariant whether it held. It knows nothing of Postrider but the names of its tables: a fault cannot be in both.
 */
@NullMarked
package dev.postrider.checker;

import org.jspecify.annotations.NullMarked;
