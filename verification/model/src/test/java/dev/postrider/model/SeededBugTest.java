package dev.postrider.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The models notice what is wrong: each bug that can be put into them breaks the promise that it should break. */
final class SeededBugTest {

    private static final Pattern NAMES = Pattern.compile("(?s)\\nNames == \\{(.*?)\\}");
    private static final Pattern NAME = Pattern.compile("\"([^\"]+)\"");

    /** Something wrong on purpose, where it is looked for, and what it must violate. */
    private record Seed(String slice, String bug, String property) {

        @Override
        public String toString() {
            return slice + ": " + bug + " -> " + property;
        }
    }

    private static final List<Seed> SEEDS = List.of(
            new Seed("Lanes-horizon", "floor above an undelivered row", "FloorIsBelow"),
            new Seed("Lanes-horizon", "floor raised before the read", "StartIsBelow"),
            new Seed("Lanes-horizon", "horizon from the newest number", "StartIsBelow"),
            new Seed("Lanes-horizon", "number before the transaction", "StartIsBelow"),
            new Seed("Lanes-horizon", "reads on from the last row", "StartIsBelow"),
            new Seed("Lanes-horizon", "reads what is not committed", "NoPhantom"),
            new Seed("Lanes-takeover", "outcome without the lane lock", "TokenSafety"),
            new Seed("Lanes-takeover", "blocked keys not loaded", "OrderOfKeys"),
            new Seed("Lanes-takeover", "promotes no message", "HeadsLead"),
            new Seed("Lanes-live", "promotes no message", "Delivered"),
            new Seed("Lanes-takeover", "sends without a look at the clock", "OrderOfKeys"),
            new Seed("Lanes-keys", "joins out of order", "OrderOfKeys"),
            new Seed("Lanes-keys", "read forgets what was put back", "StartIsBelow"),
            new Seed("Lanes-keys", "sends while a message is put back", "OrderOfKeys"),
            new Seed("Lanes-crash", "floor kept over a database crash", "StartIsBelow"),
            new Seed("Lanes-failover", "acknowledge by number", "NoLoss"),
            new Seed("Lanes-failover", "floor kept over a failover", "StartIsBelow"),
            new Seed("Lanes-lost", "number of a lost answer passed over", "StartIsBelow"),
            new Seed("Lanes-operators", "outcome over an operator's change", "Legal"),
            new Seed("Lanes-again", "outcome over an operator's change", "NothingUndone"),
            new Seed("Leases-safe", "ack without token", "TokenSafety"),
            new Seed("Leases-safe", "nack unguarded", "Legal"),
            new Seed("Leases-safe", "sweep by id only", "Legal"),
            new Seed("Leases-safe", "purge without state", "Legal"),
            new Seed("Leases-safe", "claim with the old token", "BoundedAttempts"),
            new Seed("Leases-safe", "local hand-over before the commit", "NoPhantom"),
            new Seed("Leases-live", "no sweep", "Delivered"),
            new Seed("Commands-fenced", "completed without fence", "OneEffect"),
            new Seed("Commands-fenced", "effect and end in two transactions", "OneEffect"),
            new Seed("Commands-fenced", "fence alone", "TokenSafety"),
            new Seed("Commands-fenced", "sweep without state", "Legal"),
            new Seed("Commands-leased", "take-over without a new fence", "OneEffect"),
            new Seed("Commands-leased", "take-over after the effect began", "OneResult"),
            new Seed("Commands-leased", "given back after the effect", "OneEffect"),
            new Seed("Commands-joined", "committed claim of a joined command is taken over", "OneEffect"),
            new Seed("Commands-live", "doubt is not swept", "Ends"),
            new Seed("Inbox-durable", "removed after the effect", "OneEffect"),
            new Seed("Inbox-durable", "count not checked", "OneEffect"),
            new Seed("Inbox-durable", "told before the commit", "NoLoss"),
            new Seed("Inbox-durable", "row with an id of its own", "OneEffect"),
            new Seed("Inbox-inline", "mark and effect in two transactions", "OneEffect"));

    static Stream<Seed> seeds() {
        return SEEDS.stream();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void bugIsFound(Seed seed) {
        Finding finding = Tlc.look(new Slice(seed.slice()), seed.bug(), seed.property());

        assertThat(finding.violated()).as("see %s", finding.output()).isEqualTo(seed.property());
    }

    @Test
    void everyBugOfEveryModelIsCheckedFor() throws IOException {
        Set<String> inModels = new TreeSet<>();
        for (String model : List.of("Lanes", "Leases", "Commands", "Inbox")) {
            Matcher names = NAMES.matcher(Files.readString(Slice.MODELS.resolve(model + ".tla")));
            assertThat(names.find()).as("%s has bugs", model).isTrue();
            NAME.matcher(names.group(1)).results().forEach(name -> inModels.add(model + ": " + name.group(1)));
        }

        assertThat(SEEDS.stream().map(seed -> new Slice(seed.slice()).model() + ": " + seed.bug()))
                .hasSameElementsAs(inModels);
    }
}
