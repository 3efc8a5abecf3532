/**
 * Negative controls: Postrider with one fault put into it on purpose, to see whether anything notices. A mutant is a text file that
 * says which words of the source to replace; it is applied to a copy and compiled, and goes first on the class path of a process. So
 * the library itself knows nothing of it.
 */
@NullMarked
package dev.postrider.torture.mutant;

import org.jspecify.annotations.NullMarked;
