package dev.postrider.torture.mutant;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Reads the mutants of a source tree, and builds them. */
public final class Mutants {

    private static final String PLACE = "verification/torture/src/main/resources/mutants";
    private static final String JAVA = "src/main/java/";
    private static final String RESOURCES = "src/main/resources/";

    private final Path repository;
    private final Map<String, Mutant> mutants = new TreeMap<>();

    private Mutants(Path repository) {
        this.repository = repository;
    }

    /**
     * The mutants of a source tree.
     *
     * @param repository the root of the source tree
     */
    public static Mutants in(Path repository) {
        Mutants found = new Mutants(repository);
        try (Stream<Path> files = Files.list(repository.resolve(PLACE))) {
            files.filter(file -> file.toString().endsWith(MutantFile.ENDING))
                    .map(MutantFile::read)
                    .forEach(mutant -> found.mutants.put(mutant.name(), mutant));
        } catch (IOException e) {
            throw new BadMutantException("Cannot list the mutants of " + repository, e);
        }
        return found;
    }

    /** All mutants, sorted by name. */
    public List<Mutant> all() {
        return List.copyOf(mutants.values());
    }

    /** The mutant with this name. */
    public Mutant get(String name) {
        Mutant mutant = mutants.get(name);
        if (mutant == null) {
            throw new BadMutantException(
                    "There is no mutant " + name + "; there are " + String.join(", ", mutants.keySet()));
        }
        return mutant;
    }

    /**
     * Compiles the changed sources, and copies changed resources.
     *
     * @param directory the target directory
     * @param classPath the class path with the unchanged Postrider
     * @return the directory that must come first on the class path
     */
    public Path make(Mutant mutant, Path directory, String classPath) {
        Map<String, String> changed = apply(mutant);
        try {
            Path sources = Files.createDirectories(directory.resolve("sources"));
            Path classes = Files.createDirectories(directory.resolve("classes"));
            List<Path> toCompile = new ArrayList<>();
            for (Map.Entry<String, String> file : changed.entrySet()) {
                boolean java = file.getKey().endsWith(".java");
                String path = below(java ? JAVA : RESOURCES, file.getKey());
                Path copy = (java ? sources : classes).resolve(path);
                Files.createDirectories(copy.getParent());
                Files.writeString(copy, file.getValue());
                if (java) {
                    toCompile.add(copy);
                }
            }
            toCompile.addAll(Neighbours.of(sources(changed.keySet())));
            compile(mutant, toCompile, classes, classPath);
            return classes;
        } catch (IOException e) {
            throw new BadMutantException("Cannot make " + mutant.name(), e);
        }
    }

    /** The changed files, by their paths in the repository. */
    Map<String, String> apply(Mutant mutant) {
        Map<String, String> changed = new LinkedHashMap<>();
        for (Mutant.Edit edit : mutant.edits()) {
            String text = changed.computeIfAbsent(edit.file(), file -> read(mutant, file));
            int place = text.indexOf(edit.find());
            if (place < 0 || text.indexOf(edit.find(), place + 1) >= 0) {
                throw new BadMutantException(mutant.name() + " is stale: " + edit.file() + " has "
                        + (place < 0 ? "no" : "more than one") + "\n" + edit.find());
            }
            changed.put(
                    edit.file(),
                    text.substring(0, place)
                            + edit.put()
                            + text.substring(place + edit.find().length()));
        }
        return changed;
    }

    private String read(Mutant mutant, String file) {
        try {
            return Files.readString(repository.resolve(file));
        } catch (IOException e) {
            throw new BadMutantException(mutant.name() + " is stale: cannot read " + file, e);
        }
    }

    private Set<Path> sources(Set<String> changed) {
        return changed.stream()
                .filter(file -> file.endsWith(".java"))
                .map(repository::resolve)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static void compile(Mutant mutant, List<Path> sources, Path classes, String classPath) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new BadMutantException("There is no compiler in this Java: mutants need a JDK");
        }
        if (sources.isEmpty()) {
            return;
        }
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<String> options = List.of(
                    "--release",
                    "17",
                    "-proc:none",
                    "-nowarn",
                    "-implicit:none",
                    "-cp",
                    classPath,
                    "-d",
                    classes.toString());
            boolean compiled = compiler.getTask(
                            messages, files, null, options, null, files.getJavaFileObjectsFromPaths(sources))
                    .call();
            if (!compiled) {
                throw new BadMutantException(mutant.name() + " does not compile:\n" + messages);
            }
        }
    }

    private static String below(String place, String file) {
        int start = file.indexOf(place);
        if (start < 0) {
            throw new BadMutantException(file + " is not below " + place);
        }
        return file.substring(start + place.length());
    }
}
