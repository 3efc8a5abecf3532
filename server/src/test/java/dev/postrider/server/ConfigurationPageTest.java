package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.dispatch.DispatchOptions;
import dev.postrider.dispatch.Topic;
import dev.postrider.health.HealthThresholds;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandOptions;
import dev.postrider.store.TableOptions;
import dev.postrider.transport.http.Webhook;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keeps {@code docs/configuration.md} true. */
final class ConfigurationPageTest {

    private static final Pattern ROW = Pattern.compile("\\| `([^`]+)` \\| (?:`([^`]+)`|([a-z]+)) \\| (.+) \\|");
    private static final String TOPIC = "topic.<name>.";

    private record Row(String group, String defaultValue, String meaning) {

        boolean isJavaOnly() {
            return meaning.startsWith("Java only:");
        }
    }

    private final Map<String, Row> page = read();

    private static Map<String, Row> read() {
        Map<String, Row> rows = new LinkedHashMap<>();
        String group = "";
        try {
            for (String line : Files.readAllLines(Path.of("../docs/configuration.md"))) {
                group = line.startsWith("## ") ? line.substring(3) : group;
                if (line.startsWith("| `")) {
                    Matcher matcher = ROW.matcher(line);
                    assertThat(matcher.matches()).as(line).isTrue();
                    String value = matcher.group(2) == null ? matcher.group(3) : matcher.group(2);
                    assertThat(rows.put(matcher.group(1), new Row(group, value, matcher.group(4))))
                            .as("twice: " + line)
                            .isNull();
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return rows;
    }

    private Map<String, String> defaults(String group) {
        Map<String, String> defaults = new TreeMap<>();
        page.forEach((name, row) -> {
            if (row.group().equals(group)) {
                defaults.put(name, row.defaultValue());
            }
        });
        return defaults;
    }

    @Test
    void dispatcherOptionsAndDefaultsAreTheOnesOfTheCode() {
        Map<String, String> expected =
                new TreeMap<>(DispatchOptions.builder().build().describe());
        expected.put("worker", "generated");

        assertThat(defaults("The dispatcher")).isEqualTo(expected);
        assertThat(DispatchOptions.class.getRecordComponents()).hasSameSizeAs(expected.keySet());
    }

    @Test
    void tableOptionsAndDefaultsAreTheOnesOfTheCode() throws ReflectiveOperationException {
        Map<String, String> expected = new TreeMap<>();
        for (var component : TableOptions.class.getRecordComponents()) {
            Object value = component.getAccessor().invoke(TableOptions.defaults());
            String name = component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            String text = value instanceof Enum<?> constant ? Value.written(constant) : String.valueOf(value);
            expected.put(name, value == null ? "none" : text);
        }

        assertThat(defaults("The tables")).isEqualTo(expected);
    }

    @Test
    void topicOptionsAndDefaultsAreTheOnesOfTheCode() {
        Map<String, String> expected = new TreeMap<>();
        Topic.named("x").build().describe().forEach((name, value) -> expected.put(TOPIC + name, value));
        expected.put(TOPIC + "tenants", "all");
        expected.put(TOPIC + "ordered", "false");

        assertThat(defaults("Topics")).isEqualTo(expected);
    }

    @Test
    void defaultsOfTheProcessAndOfWebhooksAreTheOnesOfTheCode() {
        assertThat(defaults("The process").get("db.connect-timeout"))
                .isEqualTo(RelayConfig.CONNECT_TIMEOUT.toSeconds() + "s");
        assertThat(defaults("Webhooks").get(TOPIC + "timeout"))
                .isEqualTo(
                        Webhook.to(URI.create("https://shop.example")).timeout().toSeconds() + "s");
    }

    @Test
    void optionsOfCommandsAndTheirDefaultsAreTheOnesOfTheCode() throws ReflectiveOperationException {
        Map<String, String> listed = defaults("Commands");
        for (var component : Command.Options.class.getRecordComponents()) {
            Object value = component.getAccessor().invoke(Command.Options.defaults());
            String name = "command."
                    + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            if (value instanceof Duration duration) {
                assertThat(new Value(name, listed.getOrDefault(name, "")).duration())
                        .as(name)
                        .isEqualTo(duration);
            } else if (value instanceof Integer number) {
                assertThat(listed).containsEntry(name, number.toString());
            }
        }
    }

    @Test
    void thresholdsOfHealthAreTheOnesOfTheCode() throws ReflectiveOperationException {
        Map<String, String> listed = defaults("Metrics and health");
        Map<String, String> expected = new TreeMap<>(Map.of(
                "metrics-port", "none",
                "metrics-host", "loopback",
                "sample-interval", MonitoringConfig.SAMPLE_INTERVAL.toSeconds() + "s"));
        for (var component : HealthThresholds.class.getRecordComponents()) {
            Object value = component.getAccessor().invoke(HealthThresholds.defaults());
            String name =
                    "health." + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            String written = listed.getOrDefault(name, "missing");
            expected.put(
                    name,
                    value instanceof Duration duration
                                    && new Value(name, written).duration().equals(duration)
                            ? written
                            : String.valueOf(value));
        }
        assertThat(listed).isEqualTo(expected);
    }

    @Test
    void everyOptionHasAMethodOfItsName() {
        assertMethods("The dispatcher", "", DispatchOptions.Builder.class);
        assertMethods("Topics", TOPIC, Topic.Builder.class);
        assertMethods("The tables", "", TableOptions.Builder.class);
        assertMethods("Commands", "command.", Command.Options.Builder.class, CommandOptions.Builder.class);
    }

    private void assertMethods(String group, String before, Class<?>... types) {
        Set<String> methods = Stream.of(types)
                .flatMap(type -> Stream.of(type.getMethods()))
                .map(Method::getName)
                .collect(Collectors.toSet());
        assertThat(defaults(group).keySet())
                .isNotEmpty()
                .allSatisfy(name -> assertThat(methods)
                        .contains(Pattern.compile("-(.)")
                                .matcher(name.substring(before.length()))
                                .replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT))));
    }

    @Test
    void exactlyTheAcceptedPropertiesAreListed() {
        Set<String> accepted = new TreeSet<>();
        Stream.of(
                        RelayConfig.PROCESS.names(),
                        RelayConfig.TABLES.names(),
                        RelayConfig.DISPATCH.names(),
                        MonitoringConfig.GROUP.names(),
                        AdminConfig.GROUP.names())
                .forEach(accepted::addAll);
        AdminConfig.OPERATORS.names().forEach(name -> accepted.add("admin.operator.<name>." + name));
        TopicSettings.GROUP.names().forEach(name -> accepted.add(TOPIC + name));
        accepted.add(TOPIC + "header.<header>");
        Set<String> listed = new TreeSet<>();
        page.forEach((name, row) -> {
            if (!row.isJavaOnly()) {
                listed.add(name);
            }
        });

        assertThat(listed).isEqualTo(accepted);
    }

    @Test
    void theExampleOfTheCommandLinePageIsAccepted(@TempDir Path directory) throws IOException {
        String guide = Files.readString(Path.of("../docs/command-line.md"));
        int begin = guide.indexOf("```properties\n") + "```properties\n".length();
        Path file = Files.writeString(
                directory.resolve("relay.properties"), guide.substring(begin, guide.indexOf("```", begin)));

        RelayConfig config = RelayConfig.load(file, name -> "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");

        assertThat(config.topics()).containsExactlyInAnyOrder("orders", "billing/invoices");
    }
}
