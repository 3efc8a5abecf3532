/**
 * Helpers shared by several rooms that are not API: no compatibility is promised for anything in here.
 */
@NullMarked
package dev.postrider.internal;

import org.jspecify.annotations.NullMarked;
