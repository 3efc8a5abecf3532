/**
 * The diagnosis of a database for operators: its settings, its sessions, the health of the tables, and signs of mistakes in
 * what applications write. Every statement only reads, has a limit of rows and a limit of time.
 */
@NullMarked
package dev.postrider.jdbc.diagnosis;

import org.jspecify.annotations.NullMarked;
