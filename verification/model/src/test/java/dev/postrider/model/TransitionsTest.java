package dev.postrider.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The list of transitions, by which recorded traces can be checked, is what the models can do: no more and no less. */
final class TransitionsTest {

    /** @param kind of row, as the list has it: its first word */
    @ParameterizedTest
    @CsvSource({
        "leased, Leases-safe Inbox-durable",
        "laned, Lanes-horizon Lanes-takeover Lanes-keys Lanes-operators Lanes-again Lanes-replay Lanes-crash Lanes-failover",
        "command, Commands-fenced Commands-leased Commands-joined",
    })
    void listIsWhatTheModelsCanDo(String kind, String slices) throws IOException {
        for (String name : slices.split(" ")) {
            LongSlices.assumeWanted(name);
        }
        Set<String> met = new TreeSet<>();
        for (String name : slices.split(" ")) {
            met.addAll(Tlc.check(new Slice(name)).transitions());
        }

        assertThat(listed(kind)).containsExactlyElementsOf(met);
    }

    private static Set<String> listed(String kind) throws IOException {
        List<String> lines = Files.readAllLines(Slice.MODELS.resolve("transitions.txt"));
        return lines.stream()
                .filter(line -> line.startsWith(kind + " "))
                .map(line -> line.substring(kind.length() + 1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
