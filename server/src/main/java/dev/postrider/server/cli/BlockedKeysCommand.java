package dev.postrider.server.cli;

import dev.postrider.admin.BlockedKey;
import dev.postrider.message.TopicName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code postrider blocked-keys}: lists the blocked keys of an ordered topic, with their heads. */
@Command(
        name = "blocked-keys",
        description =
                "List the blocked keys of an ordered topic, each with its head: retry, bury or park that message.")
final class BlockedKeysCommand implements Callable<Integer> {

    private static final int MOST = 1000;

    private static final Columns<BlockedKey> COLUMNS = Columns.<BlockedKey>none()
            .with("key", "KEY", BlockedKey::key)
            .with("tenant", "TENANT", BlockedKey::tenant)
            .with("head", "HEAD", BlockedKey::head)
            .with("behind", "BEHIND", BlockedKey::behind)
            .with("attempts", "ATTEMPTS", BlockedKey::attempts)
            .with("nextAttempt", "NEXT ATTEMPT", BlockedKey::nextAttempt)
            .with("reason", "PARKED FOR", BlockedKey::reason)
            .detail("headSeq", key -> Long.toString(key.headSeq()))
            .detail("since", BlockedKey::since)
            .with("lastError", "ERROR", BlockedKey::lastError);

    @Mixin
    private final Access access;

    @Parameters(paramLabel = "TOPIC", description = "The name of the topic.")
    private String topic = "";

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "50",
            description = "At most so many keys, 1 to " + MOST + "; ${DEFAULT-VALUE} by default.")
    private int limit;

    @Option(names = "--after", paramLabel = "SEQ", description = "Continue after this number, as the list before says.")
    private long after;

    @Mixin
    private final OutputOptions output;

    BlockedKeysCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        Limits.require("--limit", limit, MOST);
        TopicName name = TopicName.of(topic);
        return access.admin(admin -> list(admin, name));
    }

    private int list(AdminBackend admin, TopicName name) {
        List<BlockedKey> keys = admin.blockedKeys(name, after, limit);
        @Nullable
        String next =
                keys.size() < limit ? null : Long.toString(keys.get(limit - 1).headSeq());
        Map<String, @Nullable Object> more = new LinkedHashMap<>();
        more.put("next", next);
        Report report = output.report();
        report.list(COLUMNS, keys, more, name + " has no blocked keys.");
        if (next != null) {
            report.say("There may be more: continue with --after " + next);
        }
        return ExitCode.OK;
    }
}
