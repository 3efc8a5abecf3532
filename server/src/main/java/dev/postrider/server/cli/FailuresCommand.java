package dev.postrider.server.cli;

import dev.postrider.admin.FailureGroup;
import dev.postrider.admin.FailureGroups;
import dev.postrider.admin.Filter;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code postrider failures}: counts dead and parked messages by error. */
@Command(
        name = "failures",
        description =
                "Count the dead and parked messages by fingerprint of the error, topic and type, the most frequent first.")
final class FailuresCommand implements Callable<Integer> {

    private static final int MOST = 1000;

    private static final Columns<FailureGroup> COLUMNS = Columns.<FailureGroup>none()
            .with("count", "COUNT", FailureGroup::count)
            .with("fingerprint", "FINGERPRINT", FailureGroup::fingerprint)
            .with("topic", "TOPIC", FailureGroup::topic)
            .with("type", "TYPE", FailureGroup::type)
            .with("first", "FIRST", FailureGroup::first)
            .with("last", "LAST", FailureGroup::last)
            .with("sample", "SAMPLE", FailureGroup::sample)
            .with("error", "ERROR", FailureGroup::error);

    @Mixin
    private final Access access;

    @Mixin
    private final FilterOptions filter = new FilterOptions();

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "20",
            description = "At most so many groups, 1 to " + MOST + "; ${DEFAULT-VALUE} by default.")
    private int limit;

    @Mixin
    private final OutputOptions output;

    FailuresCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        Limits.require("--limit", limit, MOST);
        Filter selected = filter.filter();
        return access.admin(admin -> show(admin, selected));
    }

    private int show(AdminBackend admin, Filter selected) {
        FailureGroups failures = admin.failures(selected, limit);
        Report report = output.report();
        report.list(
                COLUMNS, failures.groups(), Map.of("complete", failures.complete()), "No message is dead or parked.");
        if (!failures.complete()) {
            report.say("Only the newest messages were examined: each count means at least so many.");
        }
        return ExitCode.OK;
    }
}
