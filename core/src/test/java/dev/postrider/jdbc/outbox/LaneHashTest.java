package dev.postrider.jdbc.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class LaneHashTest {

    @Test
    void lanesAreThoseOfThePublishedVectors() throws Exception {
        List<String[]> vectors;
        try (Stream<String> lines = Files.lines(Path.of("../docs/ordered-topics.md"))) {
            vectors = lines.dropWhile(line -> !line.startsWith("| tenant | key |"))
                    .skip(2)
                    .filter(line -> line.startsWith("| "))
                    .map(line -> line.replace("`", "").split("\\s*\\|\\s*"))
                    .toList();
        }
        assertThat(vectors).hasSize(4).allSatisfy(vector -> {
            String tenant = vector[1].equals("none") ? null : vector[1];
            assertThat(LaneHash.of(tenant, vector[2], Integer.MAX_VALUE)).hasToString(vector[3]);
            assertThat(LaneHash.of(tenant, vector[2], 32)).hasToString(vector[4]);
            assertThat(LaneHash.of(tenant, vector[2], 7)).hasToString(vector[5]);
        });
    }
}
