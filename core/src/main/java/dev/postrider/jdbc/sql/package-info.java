/**
 * The execution of statements: the detected database, its sessions and connections, the binding of parameters and the classification of
 * errors. No class here concerns messages.
 */
@NullMarked
package dev.postrider.jdbc.sql;

import org.jspecify.annotations.NullMarked;
