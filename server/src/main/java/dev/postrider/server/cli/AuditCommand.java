package dev.postrider.server.cli;

import dev.postrider.admin.AuditEntry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code postrider audit}: lists the changes by operators. */
@Command(name = "audit", description = "List the changes by operators, the newest first.")
final class AuditCommand implements Callable<Integer> {

    private static final int MOST = 1000;

    private static final Columns<AuditEntry> COLUMNS = Columns.<AuditEntry>none()
            .detail("id", entry -> Long.toString(entry.id()))
            .with("at", "AT", AuditEntry::at)
            .with("operator", "OPERATOR", AuditEntry::operator)
            .with(
                    "action",
                    "ACTION",
                    entry -> entry.action().toLowerCase(Locale.ROOT).replace('_', '-'))
            .with("topic", "TOPIC", AuditEntry::topic)
            .with("message", "MESSAGE", AuditEntry::message)
            .with("changed", "CHANGED", AuditEntry::changed)
            .with("skipped", "SKIPPED", AuditEntry::skipped)
            .with("filter", "FILTER", AuditEntry::filter)
            .with("reason", "REASON", AuditEntry::reason);

    @Mixin
    private final Access access;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "50",
            description = "At most so many entries, 1 to " + MOST + "; ${DEFAULT-VALUE} by default.")
    private int limit;

    @Option(names = "--before", paramLabel = "ID", description = "Continue before this entry, as the list before says.")
    private long before = Long.MAX_VALUE;

    @Mixin
    private final OutputOptions output;

    AuditCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        Limits.require("--limit", limit, MOST);
        return access.admin(this::list);
    }

    private int list(AdminBackend admin) {
        List<AuditEntry> entries = admin.audit(before, limit);
        @Nullable
        String next = entries.size() < limit
                ? null
                : Long.toString(entries.get(limit - 1).id());
        Map<String, @Nullable Object> more = new LinkedHashMap<>();
        more.put("next", next);
        Report report = output.report();
        report.list(COLUMNS, entries, more, "No operator has changed anything.");
        if (next != null) {
            report.say("There may be more: continue with --before " + next);
        }
        return ExitCode.OK;
    }
}
