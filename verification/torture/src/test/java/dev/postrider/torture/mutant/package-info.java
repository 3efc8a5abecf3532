/** That every mutant can be made, and that tests notice those that name one. */
@NullMarked
package dev.postrider.torture.mutant;

import org.jspecify.annotations.NullMarked;
