package dev.postrider.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The protocol as it is built keeps the promise, in every state that the models can come to. */
final class ProperModelTest {

    /** @param least of how many states there are at least: a model that can do nothing keeps every promise */
    @ParameterizedTest
    @CsvSource({
        "Lanes-horizon, 20000",
        "Lanes-takeover, 40000",
        "Lanes-keys, 20000",
        "Lanes-operators, 20000",
        "Lanes-crash, 10000",
        "Lanes-failover, 5000",
        "Lanes-again, 4000",
        "Lanes-replay, 50000",
        "Lanes-lost, 8000",
        "Lanes-live, 5000",
        "Leases-safe, 15000",
        "Leases-live, 4000",
        "Commands-fenced, 20000",
        "Commands-leased, 10000",
        "Commands-joined, 2500",
        "Commands-live, 4000",
        "Inbox-durable, 2000",
        "Inbox-inline, 25",
        "Inbox-live, 900",
    })
    void promiseIsKept(String name, long least) {
        LongSlices.assumeWanted(name);
        Finding finding = Tlc.check(new Slice(name));

        assertThat(finding.violated()).as("see %s", finding.output()).isNull();
        assertThat(finding.isComplete()).as("see %s", finding.output()).isTrue();
        assertThat(finding.distinct()).isGreaterThanOrEqualTo(least);
    }
}
