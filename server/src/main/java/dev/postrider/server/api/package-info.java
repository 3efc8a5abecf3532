/** The client of the admin API over HTTP: the verbs of operators without a login to the database. */
@NullMarked
package dev.postrider.server.api;

import org.jspecify.annotations.NullMarked;
