/** The admin API over HTTP, in the JDK's server and in Jetty. */
@NullMarked
package dev.postrider.admin.rest;

import org.jspecify.annotations.NullMarked;
