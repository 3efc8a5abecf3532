package dev.postrider.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.server.cli.CommandFailure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads a {@code .properties} file in UTF-8, and replaces its references to environment variables. */
final class ConfigFile {

    private static final Pattern REFERENCE = Pattern.compile("\\$\\{([^}]*)}");
    private static final String ENVIRONMENT = "env:";
    private static final int BYTE_ORDER_MARK = 0xFEFF;

    private final Path file;
    private final Function<String, @Nullable String> environment;

    ConfigFile(Path file, Function<String, @Nullable String> environment) {
        this.file = file;
        this.environment = environment;
    }

    /** All properties by name. */
    Map<String, Value> read() {
        OnceOnly properties = new OnceOnly();
        try (BufferedReader reader = Files.newBufferedReader(file, UTF_8)) {
            properties.load(withoutByteOrderMark(reader));
        } catch (CharacterCodingException e) {
            throw CommandFailure.usage("The configuration file " + file + " is not UTF-8 text");
        } catch (IOException e) {
            throw CommandFailure.usage("The configuration file " + file + " cannot be read ("
                    + e.getClass().getSimpleName() + "): check the name and the permissions");
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(
                    "The configuration file " + file + " has a backslash that begins no escape: write \\\\ for one");
        }
        Map<String, Value> values = new TreeMap<>();
        for (String name : properties.stringPropertyNames()) {
            // Blanks of the file are removed. Blanks of an environment variable may be part of a password.
            values.put(
                    name,
                    new Value(
                            name, resolve(name, properties.getProperty(name, "").strip())));
        }
        return values;
    }

    /**
     * Skips the byte order mark. Some editors put it at the beginning of a file, where it would be part of the first
     * name.
     */
    private static Reader withoutByteOrderMark(BufferedReader reader) throws IOException {
        reader.mark(1);
        if (reader.read() != BYTE_ORDER_MARK) {
            reader.reset();
        }
        return reader;
    }

    private String resolve(String property, String text) {
        Matcher matcher = REFERENCE.matcher(text);
        return matcher.replaceAll(reference -> Matcher.quoteReplacement(lookUp(property, reference.group(1))));
    }

    private String lookUp(String property, String reference) {
        if (!reference.startsWith(ENVIRONMENT)) {
            throw new InvalidConfigurationException(
                    property, "refers to ${" + reference + "}: write ${env:NAME} for an environment variable");
        }
        String name = reference.substring(ENVIRONMENT.length());
        String value = environment.apply(name);
        if (value == null) {
            throw new InvalidConfigurationException(
                    property, "refers to the environment variable " + name + ", which is not set");
        }
        return value;
    }

    /** Refuses a property that is given twice. {@link Properties} would silently use the second value. */
    private static final class OnceOnly extends Properties {

        @Override
        public synchronized @Nullable Object put(Object key, Object value) {
            if (containsKey(key)) {
                throw new InvalidConfigurationException(String.valueOf(key), "is given twice: keep one");
            }
            return super.put(key, value);
        }
    }
}
