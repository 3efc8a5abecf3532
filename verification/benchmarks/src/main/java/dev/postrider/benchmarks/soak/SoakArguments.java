package dev.postrider.benchmarks.soak;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The arguments of the command. */
record SoakArguments(
        boolean help, boolean alone, int rate, Duration baseline, Duration held, Duration recovery, Path out) {

    static final String USAGE = """
            Usage: postrider soak [--rate N] [--seconds BASELINE,HELD,RECOVERY] [--alone] [--out DIR]

            Puts a fixed load on Postrider, unordered and ordered, and on a queue with a status column, in one PostgreSQL, and holds
            a snapshot in the middle. Says whether anything grew that does not shrink again.

              --rate N       messages per second for each of the three, a multiple of 10; 1000 unless said otherwise
              --seconds ...  how long; 600,1800,600 unless said otherwise
              --alone        without the queue with a status column, which takes a processor for itself in the end
              --out DIR      where soak.md and soak.csv go
            """;

    static SoakArguments parse(List<String> words, Path defaultOut) {
        boolean help = false;
        boolean alone = false;
        int rate = 1000;
        List<Duration> times = List.of(Duration.ofMinutes(10), Duration.ofMinutes(30), Duration.ofMinutes(10));
        Path out = defaultOut;
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            switch (word) {
                case "--help", "-h" -> help = true;
                case "--alone" -> alone = true;
                case "--rate" -> rate = Integer.parseInt(value(words, ++i, word));
                case "--seconds" ->
                    times = List.of(value(words, ++i, word).split(",")).stream()
                            .map(seconds -> Duration.ofSeconds(Long.parseLong(seconds)))
                            .toList();
                case "--out" -> out = Path.of(value(words, ++i, word));
                default -> throw new IllegalArgumentException("What is '" + word + "'?");
            }
        }
        if (times.size() != 3) {
            throw new IllegalArgumentException("--seconds needs three numbers, such as 600,1800,600");
        }
        if (rate < 10 || rate % 10 != 0) {
            throw new IllegalArgumentException("--rate must be a multiple of 10");
        }
        return new SoakArguments(help, alone, rate, times.get(0), times.get(1), times.get(2), out);
    }

    private static String value(List<String> words, int place, String option) {
        if (place >= words.size()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        return words.get(place);
    }
}
