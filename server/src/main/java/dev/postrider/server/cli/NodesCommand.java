package dev.postrider.server.cli;

import dev.postrider.admin.NodeStatus;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code postrider nodes}: lists the nodes. */
@Command(name = "nodes", description = "List the nodes that deliver topics, with those that were lost within a day.")
final class NodesCommand implements Callable<Integer> {

    private static final Columns<NodeStatus> COLUMNS = Columns.<NodeStatus>none()
            .with("worker", "NODE", NodeStatus::worker)
            .with("version", "VERSION", NodeStatus::version)
            .with("alive", "ALIVE", NodeStatus::alive)
            .with("startedAt", "STARTED", NodeStatus::startedAt)
            .with("until", "UNTIL", NodeStatus::until)
            .with("topics", "TOPICS", NodeStatus::topics);

    @Mixin
    private final Access access;

    @Mixin
    private final OutputOptions output;

    NodesCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        return access.admin(this::list);
    }

    private int list(AdminBackend admin) {
        output.report().list(COLUMNS, admin.nodes(), "No node delivers from this database.");
        return ExitCode.OK;
    }
}
