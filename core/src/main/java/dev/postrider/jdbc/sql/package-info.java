/**
 * How statements are run: the detected database, its sessions and connections, the binding of parameters and the classification of errors.
 * Nothing here is about messages.
 */
@NullMarked
package dev.postrider.jdbc.sql;

import org.jspecify.annotations.NullMarked;
