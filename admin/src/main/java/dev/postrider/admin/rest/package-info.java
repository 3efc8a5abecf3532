/**
 * The operators' interface over HTTP: one table of routes, from which requests are answered and the OpenAPI document is
 * made. It does not depend on a server; two adapters connect it to the JDK's HTTP server and to servlet containers.
 */
@NullMarked
package dev.postrider.admin.rest;

import org.jspecify.annotations.NullMarked;
