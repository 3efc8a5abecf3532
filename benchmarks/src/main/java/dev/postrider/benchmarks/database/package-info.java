/** The database that everything is measured on, and what can be learnt from outside about its use. */
@NullMarked
package dev.postrider.benchmarks.database;

import org.jspecify.annotations.NullMarked;
