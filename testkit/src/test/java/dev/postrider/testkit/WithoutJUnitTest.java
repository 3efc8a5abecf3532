package dev.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** JUnit is optional and AssertJ is not needed: everything except the extension works without them. */
final class WithoutJUnitTest {

    private static final Pattern LEFT_OUT = Pattern.compile(".*(junit|opentest4j|assertj|apiguardian).*\\.jar");

    /** What an application with another test framework uses. */
    public static final class Application implements Runnable {

        @Override
        public void run() {
            DataSource dataSource =
                    Databases.assumeStarted(Engine.H2).createDatabase("plain").dataSource();
            RecordingTransport received = new RecordingTransport();
            RecordingListener events = new RecordingListener();
            try (Postrider postrider = Postrider.on(dataSource)
                    .topic("orders", topic -> topic.deliver(received))
                    .inbox("shipping", inbox -> inbox.handler("ship", "order.placed", new RecordingHandler()))
                    .listener(events)
                    .build()) {
                postrider.migrate();
                new PostriderTables(dataSource).empty();
                postrider.inTransaction(work -> work.stage(
                        Message.to("orders").type("order.placed").json("{}").build()));
                new DatabaseClock(dataSource).advance(Duration.ofSeconds(1));
                postrider.deliverDue();
                received.await(1, Duration.ofMinutes(1));
                new FakeUnitOfWork().stage(received.messages());
                received.clear();
            }
        }
    }

    @Test
    void recordersClockTablesAndServersNeedNeither() throws Exception {
        try (URLClassLoader classes = withoutJUnit()) {
            assertThatThrownBy(() -> classes.loadClass(Test.class.getName()))
                    .isInstanceOf(ClassNotFoundException.class);
            Class.forName("org.h2.Driver", true, classes); // a driver is found once, by the first class loader
            Class<?> application = classes.loadClass(Application.class.getName());
            assertThat(application).isNotSameAs(Application.class);
            ((Runnable) application.getConstructor().newInstance()).run();
        }
    }

    private static URLClassLoader withoutJUnit() {
        List<URL> rest = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !LEFT_OUT.matcher(entry).matches())
                .map(WithoutJUnitTest::url)
                .toList();
        return new URLClassLoader(rest.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalStateException(e);
        }
    }
}
