/** Tests of the command line, the configuration file, the relay and the demo. */
@NullMarked
package dev.postrider.server;

import org.jspecify.annotations.NullMarked;
