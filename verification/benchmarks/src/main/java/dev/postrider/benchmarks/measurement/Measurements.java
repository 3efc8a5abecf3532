package dev.postrider.benchmarks.measurement;

import java.util.List;

/** All measurements, in the order in which they are made and shown: what matters most comes first. */
public final class Measurements {

    private Measurements() {}

    public static List<Measurement> all() {
        return List.of(
                new DrainRate(),
                new EnqueueRate(),
                new Cost(),
                new LatencyOfPeers(),
                new Idle(),
                new BlockedKeys(),
                new DeadTopic(false),
                new DeadTopic(true),
                InnoDb.mariaDb(),
                InnoDb.mySql(),
                new LatencyInCommits(),
                new LiveLoad(),
                new HeldSnapshot(),
                new InlineInboxRate(),
                new DurableInboxRate(),
                new InboxPurge(),
                new CommandRate(),
                new SmallHeap(),
                new Depth());
    }
}
