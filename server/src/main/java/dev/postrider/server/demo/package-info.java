/**
 * The demo: a shop, its database, two nodes and an unreliable webhook receiver, all on this computer. This package uses
 * the library as any application would, and does not depend on the command line.
 */
@NullMarked
package dev.postrider.server.demo;

import org.jspecify.annotations.NullMarked;
