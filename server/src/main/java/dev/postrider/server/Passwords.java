package dev.postrider.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Reads passwords from files, as containers and secret managers provide them. */
final class Passwords {

    private Passwords() {}

    /** The text of the file without the line break at its end. */
    static String read(String property, String file) {
        try {
            return Files.readString(Path.of(file), UTF_8).replaceFirst("\\R\\z", "");
        } catch (IOException | InvalidPathException e) {
            throw new InvalidConfigurationException(
                    property,
                    "names '" + file + "', which cannot be read ("
                            + e.getClass().getSimpleName() + ")");
        }
    }
}
