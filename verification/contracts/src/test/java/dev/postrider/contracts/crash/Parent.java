package dev.postrider.contracts.crash;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** The test, as seen from a child process: commands come in by the standard input, reports go out by the standard output. */
final class Parent {

    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);

    private Parent() {}

    /**
     * Reports in one write: when this returns, the line is in the file that the test follows, whatever happens to this process.
     */
    static synchronized void tell(String word, Object... values) {
        StringBuilder line = new StringBuilder(word);
        for (Object value : values) {
            line.append(' ').append(value);
        }
        try {
            OUT.write(line.append('\n').toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Obeys its parent until the parent is gone; then the process ends, however busy it is. */
    static void obey(Consumer<String> command) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            command.accept(line);
        }
        Runtime.getRuntime().halt(0);
    }
}
