package dev.postrider.server.cli;

import dev.postrider.admin.LaneStatus;
import dev.postrider.message.TopicName;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code postrider lanes}: lists the lanes of an ordered topic. */
@Command(name = "lanes", description = "List the lanes of an ordered topic, with their owners.")
final class LanesCommand implements Callable<Integer> {

    private static final Columns<LaneStatus> COLUMNS = Columns.<LaneStatus>none()
            .with("lane", "LANE", LaneStatus::lane)
            .with("owner", "OWNER", LaneStatus::owner)
            .with("until", "UNTIL", LaneStatus::until)
            .with("expired", "EXPIRED", LaneStatus::expired);

    @Mixin
    private final Access access;

    @Parameters(paramLabel = "TOPIC", description = "The name of the topic.")
    private String topic = "";

    @Mixin
    private final OutputOptions output;

    LanesCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        TopicName name = TopicName.of(topic);
        return access.admin(admin -> list(admin, name));
    }

    private int list(AdminBackend admin, TopicName name) {
        output.report().list(COLUMNS, admin.lanes(name), name + " has no lanes: it is unordered, or not registered.");
        return ExitCode.OK;
    }
}
