/**
 * Every exception a caller can meet. All are unchecked and descend from {@link dev.postrider.error.PostriderException}; each message says what to do about it. This room knows no other.
 */
@NullMarked
package dev.postrider.error;

import org.jspecify.annotations.NullMarked;
