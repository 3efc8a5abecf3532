/** Tests of the parts of the command line that need no database. */
@NullMarked
package dev.postrider.server.cli;

import org.jspecify.annotations.NullMarked;
