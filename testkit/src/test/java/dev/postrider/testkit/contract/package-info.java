/** The contracts, run on every database. */
@NullMarked
package dev.postrider.testkit.contract;

import org.jspecify.annotations.NullMarked;
