package dev.postrider.torture;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Follows a journal while another process writes it. Skips an incomplete last line: its write is not finished, or was cut off. One
 * thread.
 */
final class JournalReader implements AutoCloseable {

    private static final int PIECE = 1 << 20;

    private final RandomAccessFile file;
    private byte[] rest = new byte[0];

    JournalReader(Path journal) {
        try {
            file = new RandomAccessFile(journal.toFile(), "r");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads the lines that were added since the last call. */
    void more(Consumer<String> each) {
        byte[] piece = new byte[PIECE];
        try {
            for (int count = file.read(piece); count > 0; count = file.read(piece)) {
                split(piece, count, each);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void split(byte[] piece, int count, Consumer<String> each) {
        byte[] all = Arrays.copyOf(rest, rest.length + count);
        System.arraycopy(piece, 0, all, rest.length, count);
        int begin = 0;
        for (int i = rest.length; i < all.length; i++) {
            if (all[i] == '\n') {
                each.accept(new String(all, begin, i - begin, StandardCharsets.UTF_8));
                begin = i + 1;
            }
        }
        rest = Arrays.copyOfRange(all, begin, all.length);
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
