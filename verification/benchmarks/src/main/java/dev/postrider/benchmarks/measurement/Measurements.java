package dev.postrider.benchmarks.measurement;

import dev.postrider.testkit.database.Engine;
import java.util.List;

/** All measurements, in the order in which they are made and shown. */
public final class Measurements {

    private Measurements() {}

    public static List<Measurement> all() {
        return List.of(
                new DrainRate(),
                new EnqueueRate(),
                new LatencyOfPeers(),
                new LatencyInCommits(),
                new LiveLoad(),
                new Depth(),
                new HeldSnapshot(),
                new BlockedKeys(),
                new DeadTopic(false),
                new DeadTopic(true),
                new SmallHeap(),
                new Cost(),
                new Idle(),
                new InlineInboxRate(),
                new DurableInboxRate(),
                new InboxPurge(),
                new CommandRate(),
                new InnoDb("mariadb", Engine.MARIADB_11_4),
                new InnoDb("mysql", Engine.MYSQL_8_0));
    }
}
