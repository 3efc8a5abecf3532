package dev.postrider.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableOptionsTest {

    private static final TableOptions DEFAULTS = TableOptions.defaults();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "a b",
                "a.b",
                "a;b",
                "a'b",
                "a\"b",
                "a`b",
                "a--b",
                "a/*b",
                "1a",
                "Upper_",
                "ä_",
                "a\u0000",
                "a\n",
                "a123456789012345678901234567890123456789012345678901234567890123_",
                "_a",
                "a-b",
                "{message}"
            })
    void tablePrefixThatCouldReachTheSqlIsRefused(String prefix) {
        refuses("table-prefix", options -> options.tablePrefix(prefix));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a b",
                "a.b",
                "a;b",
                "a'b",
                "a\"b",
                "a`b",
                "1a",
                "ä",
                "a\u0000",
                "$",
                "a{b}",
                "a123456789012345678901234567890123456789012345678901234567890123"
            })
    void schemaThatCouldReachTheSqlIsRefused(String schema) {
        refuses("schema", options -> options.schema(schema));
    }

    @ParameterizedTest
    @ValueSource(strings = {"public", "order", "App_1", "select"})
    void plainSchemaIsAcceptedAlsoWhenItIsAReservedWord(String schema) {
        assertThat(DEFAULTS.with(t -> t.schema(schema)).schema()).isEqualTo(schema);
    }

    @Test
    void limitsOutOfRangeAreRefusedByName() {
        refuses("max-payload-bytes", options -> options.maxPayloadBytes(0));
        refuses("max-payload-bytes", options -> options.maxPayloadBytes(Integer.MAX_VALUE));
        refuses("staged-limit", options -> options.stagedLimit(0));
        refuses("error-limit", options -> options.errorLimit(19));
        refuses("error-limit", options -> options.errorLimit(-1));
    }

    private static void refuses(String property, Consumer<TableOptions.Builder> change) {
        assertThatThrownBy(() -> DEFAULTS.with(change))
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.property()).isEqualTo(property));
    }
}
