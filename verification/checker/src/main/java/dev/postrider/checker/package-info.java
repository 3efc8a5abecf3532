/**
 * The checker of a torture run. It reads the journals of the processes and the tables at the end, and says for each invariant whether
 * it held. It uses nothing of Postrider but the names of its tables, so that the two cannot share a fault.
 */
@NullMarked
package dev.postrider.checker;

import org.jspecify.annotations.NullMarked;
