package dev.postrider.server;

import dev.postrider.server.cli.ExitCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code postrider run}: the relay as a long-running process. */
@Command(
        name = "run",
        description =
                "Deliver the messages of a database to their webhooks until SIGTERM or Ctrl-C, then drain and end.")
final class RunCommand implements Callable<Integer> {

    /** The time for the work after the drain: writing outcomes, closing connections. */
    private static final Duration AFTER_DRAIN = Duration.ofSeconds(30);

    private final Shutdown shutdown;

    @Option(
            names = "--config",
            required = true,
            paramLabel = "FILE",
            description = "Properties file with the database, the topics and their destinations.")
    private Path config = Path.of("");

    @Option(
            names = "--metrics-port",
            paramLabel = "PORT",
            description = "Serve metrics and health on this port, in place of metrics-port in the file.")
    private @Nullable Integer metricsPort;

    @Option(
            names = "--admin-port",
            paramLabel = "PORT",
            description = "Serve the admin API on this port, in place of admin-port in the file.")
    private @Nullable Integer adminPort;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    RunCommand(Shutdown shutdown) {
        this.shutdown = shutdown;
    }

    @Override
    public Integer call() {
        Logging.configure(Main.isVerbose(spec.commandLine()) ? "debug" : "info");
        RelayConfig loaded = RelayConfig.load(config, System::getenv);
        if (metricsPort != null) {
            loaded.monitoring().port(metricsPort);
        }
        if (adminPort != null) {
            loaded.admin().port(adminPort);
        }
        shutdown.takeOver(loaded.options().drainTimeout().plus(AFTER_DRAIN));
        new Relay(loaded, config).runUntil(shutdown);
        return ExitCode.OK;
    }
}
