/**
 * The relay as a separate process, and the command line: parses options and configuration files, opens the database,
 * and reports the result by an exit code. It works with messages only through the public API of the library.
 */
@NullMarked
package dev.postrider.server;

import org.jspecify.annotations.NullMarked;
