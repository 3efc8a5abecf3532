package dev.postrider.checker;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;

/** Reads a journal line by line. Ignores text after the last newline: a kill cut it off. */
final class JournalFile {

    private static final int CHUNK = 1 << 20;

    private JournalFile() {}

    static void read(Path file, Consumer<Line> reader) {
        try (InputStream in = Files.newInputStream(file)) {
            read(in, new Line(String.valueOf(file.getFileName())), reader);
        } catch (IOException e) {
            throw new UnreadableEvidenceException("Cannot read " + file, e);
        }
    }

    private static void read(InputStream in, Line line, Consumer<Line> reader) throws IOException {
        byte[] buffer = new byte[CHUNK];
        int filled = 0;
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer, filled, buffer.length - filled)) {
            filled += read;
            int rest = lines(buffer, filled, line, reader);
            System.arraycopy(buffer, rest, buffer, 0, filled - rest);
            filled -= rest;
            if (filled == buffer.length) {
                buffer = Arrays.copyOf(buffer, buffer.length * 2);
            }
        }
    }

    /** Returns the start of the first incomplete line. */
    private static int lines(byte[] buffer, int filled, Line line, Consumer<Line> reader) {
        int start = 0;
        for (int place = 0; place < filled; place++) {
            if (buffer[place] == '\n') {
                if (place > start) {
                    reader.accept(line.at(buffer, start, place));
                }
                start = place + 1;
            }
        }
        return start;
    }
}
