package dev.postrider.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the promise ends: the protocol as it is built, under what it does not promise to withstand. The document says more. */
final class LimitsTest {

    @ParameterizedTest
    @CsvSource({"Lanes-limit-rejection, AcceptedInOrder"})
    void promiseIsNotKept(String name, String property) {
        Finding finding = Tlc.look(new Slice(name), "", property);

        assertThat(finding.violated()).as("see %s", finding.output()).isEqualTo(property);
    }
}
