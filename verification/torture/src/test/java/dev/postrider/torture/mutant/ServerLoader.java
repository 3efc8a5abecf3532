package dev.postrider.torture.mutant;

import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The launchers of the testkit once more, with their own shared servers. Everything else is that of this process. */
final class ServerLoader extends URLClassLoader {

    private static final String LAUNCHERS = "dev.postrider.testkit.database.";

    static {
        registerAsParallelCapable();
    }

    ServerLoader() {
        super(
                Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                        .map(path -> MutantLoader.url(Path.of(path)))
                        .toArray(URL[]::new),
                ServerLoader.class.getClassLoader());
    }

    /** Starts the shared server of an engine, or aborts the calling test, as {@link Databases#assumeStarted} does. */
    void assumeStarted(Engine engine) throws Exception {
        call("assumeStarted", engine);
    }

    /** Starts the shared server of an engine, if that is possible here. */
    void start(Engine engine) throws Exception {
        try {
            call("shared", engine);
        } catch (RuntimeException unavailable) {
            // its tests say so
        }
    }

    private void call(String method, Engine engine) throws Exception {
        Class<?> engines = loadClass(Engine.class.getName());
        Object same = engines.getMethod("valueOf", String.class).invoke(null, engine.name());
        try {
            loadClass(Databases.class.getName()).getMethod(method, engines).invoke(null, same);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /** Whether a class belongs to the launchers. */
    static boolean isOurs(String name) {
        return name.startsWith(LAUNCHERS);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!isOurs(name)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? findClass(name) : loaded;
        }
    }
}
