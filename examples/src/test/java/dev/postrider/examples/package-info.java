@NullMarked
package dev.postrider.examples;

import org.jspecify.annotations.NullMarked;
