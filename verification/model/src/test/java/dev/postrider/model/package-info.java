/** Runs TLC over the models beside this module's pom, and says what it found. */
@NullMarked
package dev.postrider.model;

import org.jspecify.annotations.NullMarked;
