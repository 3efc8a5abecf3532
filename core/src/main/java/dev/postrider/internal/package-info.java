/** Shared helpers that are not API. They may change in every version. */
@NullMarked
package dev.postrider.internal;

import org.jspecify.annotations.NullMarked;
