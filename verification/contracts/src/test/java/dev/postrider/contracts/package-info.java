/** The contracts, run on every database. */
@NullMarked
package dev.postrider.contracts;

import org.jspecify.annotations.NullMarked;
