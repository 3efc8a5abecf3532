package dev.postrider.testkit.database;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Copies and deletes whole directories. */
final class FileTrees {

    private FileTrees() {}

    /** Copies a directory with its permissions: PostgreSQL refuses a data directory that other users can read. */
    static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new Copying(from, to));
    }

    /**
     * Copies a directory while a server writes to it. Files that disappear during the copy are left out.
     *
     * @param wanted whether to copy a path, relative to the directory, and everything below it
     */
    static void copyInUse(Path from, Path to, Predicate<Path> wanted) throws IOException {
        Files.walkFileTree(from, new Copying(from, to) {
            @Override
            FileVisitResult copied(Path path) throws IOException {
                if (!wanted.test(from.relativize(path))) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                try {
                    return super.copied(path);
                } catch (NoSuchFileException e) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                if (failure instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw failure;
            }
        });
    }

    private static class Copying extends SimpleFileVisitor<Path> {

        private final Path from;
        private final Path to;

        Copying(Path from, Path to) {
            this.from = from;
            this.to = to;
        }

        @Override
        public final FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                throws IOException {
            return copied(directory);
        }

        @Override
        public final FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            return copied(file);
        }

        FileVisitResult copied(Path path) throws IOException {
            Files.copy(path, to.resolve(from.relativize(path)), StandardCopyOption.COPY_ATTRIBUTES);
            return FileVisitResult.CONTINUE;
        }
    }

    /** Deletes a directory and everything in it. Does nothing if the directory does not exist. */
    static void delete(Path root) throws IOException {
        if (!Files.exists(root)) {
            return;
        }
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
                    throws IOException {
                if (failure != null) {
                    throw failure;
                }
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
