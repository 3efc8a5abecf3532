/**
 * The relay as a process of its own, and the command line: parses options and configuration files, opens the database, and
 * says how it went by an exit code. Everything it does with messages it does through the library's public doors.
 */
@NullMarked
package dev.postrider.server;

import org.jspecify.annotations.NullMarked;
