/**
 * The listeners that Postrider itself adds. Not API.
 */
@NullMarked
package dev.postrider.internal.event;

import org.jspecify.annotations.NullMarked;
