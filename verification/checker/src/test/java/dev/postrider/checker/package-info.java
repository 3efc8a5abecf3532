/** Histories made by hand, good and bad: the checker's own negative controls. */
@NullMarked
package dev.postrider.checker;

import org.jspecify.annotations.NullMarked;
