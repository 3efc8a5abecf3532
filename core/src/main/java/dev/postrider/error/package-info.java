/**
 * The exceptions of the library. All are unchecked and extend {@link dev.postrider.error.PostriderException}. Each
 * message says how to fix the problem. This package does not depend on other packages.
 */
@NullMarked
package dev.postrider.error;

import org.jspecify.annotations.NullMarked;
