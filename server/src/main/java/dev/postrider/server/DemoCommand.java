package dev.postrider.server;

import dev.postrider.server.cli.CommandFailure;
import dev.postrider.server.cli.ExitCode;
import dev.postrider.server.demo.Demo;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code postrider demo}: runs all parts on this computer, and proves that no message was lost. */
@Command(
        name = "demo",
        description = {
            "See it run: an embedded PostgreSQL, a shop that places orders, two nodes that deliver them, and a webhook"
                    + " receiver that fails one request in twenty and is sometimes slow.",
            "Ends on Ctrl-C or after --seconds, waits for the last deliveries, and compares what was committed with what"
                    + " arrived. Exit code 0 only if nothing was lost and nothing arrived that was not committed."
        })
final class DemoCommand implements Callable<Integer> {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int LONGEST_SECONDS = 1_000_000;
    private static final int HIGHEST_RATE = 1000;

    private final Shutdown shutdown;

    @Option(names = "--seconds", paramLabel = "N", description = "Seconds to place orders; until Ctrl-C by default.")
    private @Nullable Integer seconds;

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "50",
            description = "Orders per second, 1 to " + HIGHEST_RATE + "; ${DEFAULT-VALUE} by default.")
    private int rate;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    DemoCommand(Shutdown shutdown) {
        this.shutdown = shutdown;
    }

    @Override
    public Integer call() {
        Logging.configure(Main.isVerbose(spec.commandLine()) ? "info" : "warn");
        require("--seconds", seconds == null ? 1 : seconds, LONGEST_SECONDS);
        require("--rate", rate, HIGHEST_RATE);
        shutdown.takeOver(PATIENCE);
        PrintWriter out = spec.commandLine().getOut();
        Duration length = seconds == null ? Duration.ofDays(365) : Duration.ofSeconds(seconds);
        boolean proved = new Demo(rate, length, isTerminal(), out).run(shutdown::isAskedWithin);
        return proved ? ExitCode.OK : ExitCode.FAILED;
    }

    private static void require(String option, int value, int max) {
        if (value < 1 || value > max) {
            throw CommandFailure.usage(option + " must be 1 to " + max + ", but is " + value);
        }
    }

    /** The start script sets this property, because the detection of a terminal differs between releases of Java. */
    private static boolean isTerminal() {
        return Boolean.getBoolean("postrider.terminal");
    }
}
