package dev.postrider.servlet;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import java.net.URI;
import java.util.List;
import java.util.stream.Stream;

/** A container with one servlet behind filters, and in front of them a {@link Believer}. */
interface TestServer {

    URI uri();

    void stop() throws Exception;

    /** The containers that the filter is tried in. Their classes are loaded when one is started. */
    enum Container {
        JETTY {
            @Override
            TestServer start(List<Filter> filters, HttpServlet servlet) throws Exception {
                return new JettyServer(filters, servlet);
            }
        },
        TOMCAT {
            @Override
            TestServer start(List<Filter> filters, HttpServlet servlet) throws Exception {
                return new TomcatServer(filters, servlet);
            }
        };

        abstract TestServer start(List<Filter> filters, HttpServlet servlet) throws Exception;

        /** All of them, or the one that {@code postrider.container} names: some versions cannot be on one class path. */
        static Stream<Container> tested() {
            String only = System.getProperty("postrider.container");
            return only == null ? Stream.of(values()) : Stream.of(valueOf(only));
        }
    }
}
