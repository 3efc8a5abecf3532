package dev.postrider.checker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JournalFileTest {

    @TempDir
    Path directory;

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("producer-1.journal"), text);
    }

    @Test
    void lineThatWasCutIsNothing() throws IOException {
        List<Long> times = new ArrayList<>();
        JournalFile.read(file("1\ta\n2\tb\n3\tc\tid="), line -> times.add(line.time()));
        assertThat(times).containsExactly(1L, 2L);
    }

    @Test
    void valuesAreDecoded() throws IOException {
        JournalFile.read(file("1\tdid\tid=\taction=a%09b+c\tlast=%C3%A4\n"), line -> {
            assertThat(line.is("did")).isTrue();
            assertThat(line.is("di")).isFalse();
            assertThat(line.text("id")).isEmpty();
            assertThat(line.text("action")).isEqualTo("a\tb c");
            assertThat(line.text("last")).isEqualTo("ä");
            assertThat(line.text("act")).isEmpty();
            assertThat(line.number("id")).isZero();
        });
    }

    @Test
    void linesLongerThanABufferAreRead() throws IOException {
        String value = "x".repeat(3_000_000);
        List<Integer> lengths = new ArrayList<>();
        JournalFile.read(
                file("1\ta\tv=" + value + "\n2\tb\tv=y\n"),
                line -> lengths.add(line.text("v").length()));
        assertThat(lengths).containsExactly(3_000_000, 1);
    }

    @Test
    void idsAreNumbersAndOtherTextsTheirHash() throws IOException {
        Ids ids = new Ids();
        List<Integer> numbers = new ArrayList<>();
        JournalFile.read(
                file("1\ta\tid=" + Story.id("a") + "\n1\ta\tid=b\n1\ta\tid=" + Story.id("a") + "\n1\ta\tid=b\n"),
                line -> numbers.add(line.id("id", ids)));
        assertThat(numbers).containsExactly(0, 1, 0, 1);
        assertThat(ids.get(0)).isEqualTo(Story.id("a"));
    }

    @Test
    void whatCannotBeReadIsSaid() throws IOException {
        Path file = file("x\ta\n");
        assertThatThrownBy(() -> JournalFile.read(file, Line::time))
                .isInstanceOf(UnreadableEvidenceException.class)
                .hasMessage("producer-1.journal has no number where one is expected: x\ta");
    }

    @Test
    void manyIdsAreToldApart() {
        Ids ids = new Ids();
        for (int number = 0; number < 100_000; number++) {
            assertThat(ids.of(number, 0)).isEqualTo(2 * number);
            assertThat(ids.of(0, number + 1L)).isEqualTo(2 * number + 1);
        }
        assertThat(ids.of(50_000, 0)).isEqualTo(100_000);
        assertThat(ids.size()).isEqualTo(200_000);
    }
}
