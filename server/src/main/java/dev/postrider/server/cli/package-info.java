/**
 * The verbs of operators: lists, actions, diagnosis. Each verb works on the operators' interface of core, whatever stands
 * behind it, and knows nothing of connections.
 */
@NullMarked
package dev.postrider.server.cli;

import org.jspecify.annotations.NullMarked;
