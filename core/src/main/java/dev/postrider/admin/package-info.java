/**
 * Reading and repairing: what is waiting, what is dead, replay, discard, pause. This room knows no HTTP and no command line.
 */
@NullMarked
package dev.postrider.admin;

import org.jspecify.annotations.NullMarked;
