package dev.postrider.servlet;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** An embedded Tomcat, of the version that is on the class path. */
final class TomcatServer implements TestServer {

    private final Tomcat tomcat = new Tomcat();
    private final Path base = Files.createTempDirectory("tomcat");

    TomcatServer(List<Filter> filters, HttpServlet servlet) throws Exception {
        tomcat.setBaseDir(base.toString());
        tomcat.setHostname("localhost");
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("acceptCount", "1000");
        Context context = tomcat.addContext("", base.toString());
        add(context, new Believer(), "believer");
        for (int i = 0; i < filters.size(); i++) {
            add(context, filters.get(i), "filter-" + i);
        }
        Tomcat.addServlet(context, "application", servlet).setAsyncSupported(true);
        context.addServletMappingDecoded("/*", "application");
        tomcat.start();
    }

    private static void add(Context context, Filter filter, String name) {
        FilterDef definition = new FilterDef();
        definition.setFilterName(name);
        definition.setFilter(filter);
        definition.setAsyncSupported("true");
        context.addFilterDef(definition);
        FilterMap map = new FilterMap();
        map.setFilterName(name);
        map.addURLPattern("/*");
        for (String dispatcher : List.of("REQUEST", "ASYNC", "ERROR")) {
            map.setDispatcher(dispatcher);
        }
        context.addFilterMap(map);
    }

    @Override
    public URI uri() {
        return URI.create("http://localhost:" + tomcat.getConnector().getLocalPort() + "/payments");
    }

    @Override
    public void stop() throws Exception {
        tomcat.stop();
        tomcat.destroy();
        try (Stream<Path> files = Files.walk(base)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
