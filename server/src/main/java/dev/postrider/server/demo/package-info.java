/**
 * The demo: a shop, its database, two nodes and a moody webhook receiver, all on this machine. This room uses the library as any
 * application would, and knows nothing of the command line.
 */
@NullMarked
package dev.postrider.server.demo;

import org.jspecify.annotations.NullMarked;
