/**
 * The schema of the tables: the migration with the numbered schema files, and the check that the tables fit this version.
 */
@NullMarked
package dev.postrider.jdbc.schema;

import org.jspecify.annotations.NullMarked;
