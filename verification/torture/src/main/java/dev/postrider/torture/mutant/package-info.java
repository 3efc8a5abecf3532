/**
 * Negative controls: Postrider with one deliberate fault, to test whether a check notices it. A mutant is a text file that says which
 * text of the source to replace. It is applied to a copy and compiled, and comes first on the class path of a process. The library
 * itself has no code for mutants.
 */
@NullMarked
package dev.postrider.torture.mutant;

import org.jspecify.annotations.NullMarked;
