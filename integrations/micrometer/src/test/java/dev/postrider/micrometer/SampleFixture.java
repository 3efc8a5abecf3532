package dev.postrider.micrometer;

import dev.postrider.admin.Count;
import dev.postrider.admin.Sample;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Samples that no database took. */
final class SampleFixture {

    private SampleFixture() {}

    static Sample empty() {
        return new Sample(
                Instant.EPOCH,
                "node",
                Duration.ofMillis(1),
                List.of(),
                Count.ZERO,
                Count.ZERO,
                Map.of(),
                Count.ZERO,
                null);
    }
}
