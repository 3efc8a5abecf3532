package dev.postrider.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JournalTest {

    @TempDir
    private Path directory;

    @Test
    void whatIsWrittenIsRead() {
        long before = Journal.now();
        try (Journal journal = Journal.at(file())) {
            journal.write("received", "id", 17, "key", "a b\t=%ü\n", "number", null);
        }

        JournalLine line = JournalLine.parse(lines(new JournalReader(file())).get(0));

        assertThat(line.micros()).isBetween(before, Journal.now());
        assertThat(line.event()).isEqualTo("received");
        assertThat(line.value("id")).isEqualTo("17");
        assertThat(line.value("key")).isEqualTo("a b\t=%ü\n");
        assertThat(line.value("number")).isEmpty();
        assertThat(line.value("nothing of the kind")).isEmpty();
    }

    @Test
    void lineThatWasCutIsNotRead() throws IOException {
        try (Journal journal = Journal.at(file())) {
            journal.write("committed", "tx", 1);
            journal.write("committed", "tx", 2);
        }
        byte[] all = Files.readAllBytes(file());
        Files.write(file(), Arrays.copyOf(all, all.length - 3));

        assertThat(lines(new JournalReader(file()))).singleElement().asString().endsWith("tx=1");
    }

    @Test
    void lineIsReadWhenItsEndHasCome() throws IOException {
        Files.writeString(file(), "1\tcommitted\ttx=1\n2\tcomm");
        JournalReader reader = new JournalReader(file());
        assertThat(lines(reader)).containsExactly("1\tcommitted\ttx=1");

        Files.writeString(file(), "itted\ttx=2\n", StandardOpenOption.APPEND);

        assertThat(lines(reader)).containsExactly("2\tcommitted\ttx=2");
        assertThat(lines(reader)).isEmpty();
    }

    @Test
    void onlyAnsweredCommitsAreCounted() throws IOException {
        try (Journal journal = Journal.at(directory.resolve("producer-2.journal"))) {
            journal.write("intended", "tx", "a", "kept", true);
            journal.write("intended", "tx", "a", "kept", true);
            journal.write("intended", "tx", "a", "kept", false);
            journal.write("intended", "tx", "b", "kept", true);
            journal.write("intended", "tx", "c", "kept", true);
            journal.write("committed", "tx", "a");
            journal.write("rolledback", "tx", "b");
        }
        Committed committed = new Committed(directory);
        assertThat(committed.count(5)).isEqualTo(2);

        try (Journal journal = Journal.at(directory.resolve("producer-2.journal"))) {
            journal.write("committed", "tx", "c");
        }

        assertThat(committed.count(5)).isEqualTo(3);
    }

    private Path file() {
        return directory.resolve("some.journal");
    }

    private static List<String> lines(JournalReader reader) {
        List<String> lines = new ArrayList<>();
        reader.more(lines::add);
        return lines;
    }
}
