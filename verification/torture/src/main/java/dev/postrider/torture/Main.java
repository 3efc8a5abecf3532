package dev.postrider.torture;

import dev.postrider.testkit.database.DatabaseUnavailableException;
import dev.postrider.torture.mutant.BadMutantException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The {@code torture} command. */
public final class Main {

    private static final long QUIET_SECONDS = 10;

    private Main() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        System.exit(run(List.of(arguments)));
    }

    private static int run(List<String> words) throws IOException, InterruptedException {
        Arguments arguments;
        try {
            arguments = Arguments.parse(
                    words,
                    Path.of(System.getProperty("postrider.torture.runs", "torture-runs")),
                    System.currentTimeMillis() % 1_000_000);
        } catch (IllegalArgumentException e) {
            System.err.println("postrider torture: " + e.getMessage());
            System.err.print(Arguments.USAGE);
            return 2;
        }
        if (arguments.help()) {
            System.out.print(Arguments.USAGE);
            return 0;
        }
        System.out.println("Seed " + arguments.seed() + ", evidence in " + arguments.directory());
        try {
            Summary summary = new Run(arguments, live()).run();
            System.out.println();
            List<Path> written = new Report(summary).write();
            System.out.print(new Report(summary).text());
            written.forEach(path -> System.out.println(path.toAbsolutePath()));
            return summary.held() ? 0 : 1;
        } catch (DatabaseUnavailableException | BadMutantException e) {
            System.err.println("postrider torture: " + e.getMessage());
            return 2;
        }
    }

    /** On a terminal, one line that is overwritten. Otherwise a new line every ten seconds. */
    private static Consumer<String> live() {
        if (Boolean.getBoolean("postrider.terminal")) {
            return line -> System.out.print("\r\033[K" + line);
        }
        long[] last = {System.nanoTime() - TimeUnit.SECONDS.toNanos(QUIET_SECONDS)};
        return line -> {
            if (System.nanoTime() - last[0] >= TimeUnit.SECONDS.toNanos(QUIET_SECONDS)) {
                last[0] = System.nanoTime();
                System.out.println(line);
            }
        };
    }
}
