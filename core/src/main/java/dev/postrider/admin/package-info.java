/**
 * Operations for operators: status, lists, replay, discard, retry, bury, park, pause, audit. This package does not depend
 * on HTTP or on a command line.
 */
@NullMarked
package dev.postrider.admin;

import org.jspecify.annotations.NullMarked;
