/** Tests of the demo's own judgement. */
@NullMarked
package dev.postrider.server.demo;

import org.jspecify.annotations.NullMarked;
