package dev.postrider.torture.mutant;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Postrider and its tests once more, with a mutant's classes and resources in place of its own. Everything else is that of this
 * process. The database servers are those of a {@link ServerLoader}: they need not be started for each mutant. Tests that start processes
 * see no mutant.
 */
final class MutantLoader extends URLClassLoader {

    private static final String OURS = "dev.postrider.";

    /** Tests of the modules that were built before this one; they are in no jar. */
    private static final List<Path> OTHER_TESTS = List.of(
            MutantsTest.REPOSITORY.resolve("core/target/test-classes"),
            MutantsTest.REPOSITORY.resolve("verification/contracts/target/test-classes"));

    static {
        registerAsParallelCapable();
    }

    /** @param mutant what comes first */
    MutantLoader(Path mutant, ServerLoader servers) {
        super(urls(mutant), servers);
    }

    private static URL[] urls(Path mutant) {
        List<Path> paths = new ArrayList<>(List.of(mutant));
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            paths.add(Path.of(path));
        }
        paths.addAll(OTHER_TESTS);
        return paths.stream().map(MutantLoader::url).toArray(URL[]::new);
    }

    static URL url(Path path) {
        try {
            return path.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(path.toString(), e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS) || ServerLoader.isOurs(name)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? findClass(name) : loaded;
        }
    }

    @Override
    public @Nullable URL getResource(String name) {
        URL first = findResource(name);
        return first == null ? super.getResource(name) : first;
    }
}
