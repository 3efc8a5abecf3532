/** The filter in a real container. */
@NullMarked
package dev.postrider.servlet;

import org.jspecify.annotations.NullMarked;
