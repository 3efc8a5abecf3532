/**
 * Operations for operators: status, dead letters, blocked keys, replay, discard, pause. This package does not depend
 * on HTTP or on a command line.
 */
@NullMarked
package dev.postrider.admin;

import org.jspecify.annotations.NullMarked;
