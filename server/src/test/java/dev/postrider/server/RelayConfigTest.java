package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.postrider.dispatch.DispatchOptions;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.server.cli.CommandFailure;
import dev.postrider.store.TableOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RelayConfigTest {

    private static final String MINIMAL = """
            db.url = jdbc:postgresql://localhost/shop
            topic.orders.url = https://shop.example/hooks
            """;

    private static final Map<String, String> ENVIRONMENT =
            Map.of("PASSWORD", "s3cr$t\\", "HOST", "db.example", "EMPTY", "", "BLANKS", " s p ");

    @TempDir
    private Path directory = Path.of("");

    private RelayConfig load(String text) {
        try {
            Path file = Files.writeString(directory.resolve("relay.properties"), text);
            return RelayConfig.load(file, ENVIRONMENT::get);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void twoLinesAreEnough() {
        RelayConfig config = load(MINIMAL);

        assertThat(config.login()).isEqualTo(new Login("jdbc:postgresql://localhost/shop", null, null));
        assertThat(config.tables()).isEqualTo(TableOptions.defaults());
        assertThat(config.options().describe())
                .isEqualTo(DispatchOptions.builder().build().describe());
        assertThat(config.connectTimeout()).isEqualTo(Duration.ofSeconds(60));
        assertThat(config.migrateOnStart()).isFalse();
        assertThat(config.topics()).containsExactly("orders");
    }

    @Test
    void everyPropertyIsRead() {
        RelayConfig config = load("""
                db.url = jdbc:mariadb://${env:HOST}:3306/shop
                db.user = relay
                db.password = x-${env:PASSWORD}
                db.connect-timeout = 2m
                migrate-on-start = true
                schema = messaging
                table-prefix = box_
                max-payload-bytes = 1000
                error-limit = 100
                archive = without-payload
                worker = relay-1
                poll-interval = 500ms
                batch-size = 7
                lease = 1m
                max-in-flight = 8
                max-in-flight-bytes = 9000000000
                drain-timeout = 0s
                housekeeping-interval = 1h
                archive-retention = 2d
                dead-retention = 90d
                key-retention = 7d
                inbox-retention = 14d
                purge-batch = 10
                topic.orders.url = https://shop.example/hooks
                topic.orders.allow-private-addresses = false
                topic.orders.secret = whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_AfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
                topic.orders.mode = structured
                topic.orders.timeout = 20s
                topic.orders.connect-timeout = 1s
                topic.orders.source = urn:shop
                topic.orders.header.Authorization = Bearer ${env:PASSWORD}
                topic.orders.tenants = acme, umbrella
                topic.orders.max-attempts = 3
                topic.orders.base-delay = 1s
                topic.orders.max-delay = 1h
                topic.orders.max-in-flight = 5
                topic.orders.tenant-prefixed-keys = true
                """);

        assertThat(config.login()).isEqualTo(new Login("jdbc:mariadb://db.example:3306/shop", "relay", "x-s3cr$t\\"));
        assertThat(config.connectTimeout()).isEqualTo(Duration.ofMinutes(2));
        assertThat(config.migrateOnStart()).isTrue();
        assertThat(config.tables())
                .isEqualTo(TableOptions.defaults()
                        .with(t -> t.schema("messaging")
                                .tablePrefix("box_")
                                .maxPayloadBytes(1000)
                                .errorLimit(100)
                                .archive(TableOptions.Archive.WITHOUT_PAYLOAD)));
        assertThat(config.options())
                .isEqualTo(new DispatchOptions(
                        "relay-1",
                        Duration.ofMillis(500),
                        7,
                        Duration.ofMinutes(1),
                        8,
                        9_000_000_000L,
                        Duration.ZERO,
                        Duration.ofHours(1),
                        Duration.ofDays(2),
                        Optional.of(Duration.ofDays(90)),
                        Duration.ofDays(7),
                        Optional.of(Duration.ofDays(14)),
                        10,
                        true));
    }

    @Test
    void topicNamesMayHoldDotsSlashesAndWordsOfOurs() {
        RelayConfig config = load("""
                db.url = jdbc:postgresql://localhost/shop
                topic.eu.shop/order.events.url = https://a.example
                topic.eu.shop/order.events.max-attempts = 3
                topic.url.url = https://b.example
                topic.mode.timeout.url = https://c.example
                topic.mode.timeout.ordered = true
                topic.mode.timeout.lanes = 8
                topic.mode.timeout.on-failure = park
                topic.mode.timeout.block-after-dead-letter = false
                topic.mode.timeout.breaker-failures = 10
                topic.mode.timeout.breaker-pause = 10s
                topic.mode.timeout.archive = without-payload
                topic.mode.timeout.compress-payloads-above = 8000
                topic.a.header.b.url = https://d.example
                """);

        assertThat(config.topics())
                .containsExactlyInAnyOrder("eu.shop/order.events", "url", "mode.timeout", "a.header.b");
    }

    @Test
    void passwordComesFromAFileWithoutItsLineBreak() throws Exception {
        Path password = Files.writeString(directory.resolve("password"), " s p \n");

        RelayConfig config = load(MINIMAL + "db.password-file = " + password + "\n");

        assertThat(config.login().password()).isEqualTo(" s p ");
    }

    @Test
    void keysOfATopicComeFromThePropertyOrFromAFile() throws Exception {
        String ring = "2026-11:" + "A".repeat(43) + "= 2026-05:" + "B".repeat(43) + "=";
        Path file = Files.writeString(directory.resolve("keys"), ring.replace(' ', '\n') + "\n");

        assertThat(load(MINIMAL + "topic.orders.encryption-keys = " + ring + "\n")
                        .topics())
                .containsExactly("orders");
        assertThat(load(MINIMAL + "topic.orders.encryption-keys-file = " + file + "\n")
                        .topics())
                .containsExactly("orders");
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> load(MINIMAL + "topic.orders.encryption-keys = " + ring
                        + "\ntopic.orders.encryption-keys-file = " + file + "\n"))
                .withMessageContaining("keep one of encryption-keys and encryption-keys-file");
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> load(MINIMAL + "topic.orders.encryption-keys = 2026-11:AAAA\n"))
                .withMessage("topic.orders.encryption-keys needs keys of 16, 24 or 32 bytes; '2026-11' has 3");
    }

    @Test
    void passwordOfAnEnvironmentVariableKeepsItsBlanks() {
        assertThat(load(MINIMAL + "db.password = ${env:BLANKS}\n").login().password())
                .isEqualTo(" s p ");
        assertThat(load(MINIMAL + "db.password = x \n").login().password()).isEqualTo("x");
    }

    @Test
    void byteOrderMarkIsNotPartOfTheFirstName() {
        assertThat(load("\uFEFF" + MINIMAL).login().url()).isEqualTo("jdbc:postgresql://localhost/shop");
    }

    @ParameterizedTest
    @CsvSource({"20s, 20", "PT20S, 20", "PT1M, 60", "pt0.5s, 0", "1h, 3600", "36500d, 3153600000"})
    void durationsAreReadInTheShortFormAndInThatOfJava(String text, long seconds) {
        assertThat(new Value("x", text).duration().toSeconds()).isEqualTo(seconds);
    }

    @Test
    void headerMayBeNamedLikeAProperty() {
        RelayConfig config = load(MINIMAL + """
                topic.orders.header.secret = s
                topic.orders.header.timeout = 5
                topic.orders.header.url = x
                topic.other.header.url = https://a.example
                topic.other.header.max-attempts = 3
                topic.other.header.header.secret = s
                """);

        assertThat(config.topics()).containsExactly("orders", "other.header");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            db.connect-timeout=0s             | db.connect-timeout must be longer than 0
            topic.orders.timeout=27s          | topic.orders.timeout (PT27S) must be shorter than nine tenths of lease
            worker=a\\nFORGED line            | worker must be a name of 1 to 100 characters, on one line
            """)
    void valueThatCannotWorkIsRefusedBeforeTheDatabaseIsAsked(String line, String problem) {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> load(MINIMAL + line))
                .withMessageStartingWith(problem);
    }

    @ParameterizedTest
    @CsvSource({"true, 0", "false, 8"})
    void orderedAndLanesMustAgree(String ordered, String lanes) {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> load(MINIMAL + "topic.orders.ordered=" + ordered + "\ntopic.orders.lanes=" + lanes))
                .withMessage("topic.orders.ordered is " + ordered + ", but topic.orders.lanes is " + lanes);
    }

    @Test
    void nameWithTwoMeaningsIsRefused() {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> load(MINIMAL + "topic.orders.header.b.url = https://a.example\n"))
                .withMessageContaining("topic.orders.header.b.url can be a header of the topic orders or a property");
    }

    @Test
    void deadLettersCanBeKeptForever() {
        assertThat(load(MINIMAL + "inbox-retention = forever").options().inboxRetention())
                .isEmpty();
        assertThat(load(MINIMAL + "dead-retention = forever").options().deadRetention())
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            pol-interval = 5s                      | pol-interval                     | did you mean poll-interval?
            db.usr = x                             | db.usr                           | did you mean db.user?
            something-else-altogether = x          | something-else-altogether        | docs/configuration.md
            topic.orders.max-atempts = 5           | topic.orders.max-atempts         | did you mean topic.orders.max-attempts?
            topic.a/b.c.urll = x                   | topic.a/b.c.urll                 | did you mean topic.a/b.c.url?
            topic.orders.handler-timeout = 5s      | topic.orders.handler-timeout     | is not a property
            staged-limit = 5                       | staged-limit                     | is not a property
            topic.url = https://a.example          | topic.url                        | is not a property
            poll-interval = 5                      | poll-interval                    | 500ms, 5s, 2m, 1h or 1d
            poll-interval = 5 s                    | poll-interval                    | duration
            poll-interval = -5s                    | poll-interval                    | duration
            poll-interval = PT                     | poll-interval                    | duration
            poll-interval = PT-5S                  | poll-interval                    | between 0 and 36500 days
            db.connect-timeout = 999999999d        | db.connect-timeout               | between 0 and 36500 days
            db.connect-timeout = 9999999999999999d | db.connect-timeout               | between 0 and 36500 days
            db.connect-timeout = 99999999999999999999d | db.connect-timeout           | duration
            db.connect-timeout = PT99999999999999H | db.connect-timeout               | between 0 and 36500 days
            housekeeping-interval = 36500d         | housekeeping-interval            | 24 h
            archive-retention = 36500d             | archive-retention                | 10000 days
            topic.orders.max-delay = 36500d        | topic.orders.max-delay           | days
            topic.orders.timeout = 36500d          | topic.orders.timeout             | minutes
            topic.orders.breaker-pause = 36500d    | topic.orders.breaker-pause       | 24 h
            topic.orders.base-delay = 30d          | topic.orders.base-delay          | at most 24 days
            poll-interval = 9h                     | poll-interval                    | at most 8 h
            topic.orders.tenants = a, b, a         | topic.orders.tenants             | 'a' twice
            topic.orders.tenants = a,,b            | topic.orders.tenants             | comma without a name
            topic.orders.tenants = a,              | topic.orders.tenants             | comma without a name
            topic.ordrs.header.secret = x          | topic.ordrs.url                  | is missing
            topic.a.url = https://me:pw@a.example  | topic.a.url                      | set topic.a.header.Authorization
            poll-interval = 0s                     | poll-interval                    | must be at least 1 ms
            poll-interval =                        | poll-interval                    | duration
            poll-interval = 11s                    | poll-interval                    | a third of lease
            lease = 25h                            | lease                            | 24 h
            batch-size = many                      | batch-size                       | whole number
            batch-size = 1.5                       | batch-size                       | whole number
            batch-size = 3000000000                | batch-size                       | 2147483647
            batch-size = 0                         | batch-size                       | 1 to 10000
            max-in-flight-bytes = 64MB             | max-in-flight-bytes              | whole number
            purge-batch = 10001                    | purge-batch                      | 1 to 10000
            migrate-on-start = yes                 | migrate-on-start                 | true or false
            db.doorbell = maybe                    | db.doorbell                      | true or false
            archive = none                         | archive                          | full, without-payload, off
            schema = a.b                           | schema                           | letters, digits and underscores
            table-prefix = Shop_                   | table-prefix                     | lower-case
            error-limit = 1                        | error-limit                      | 20 to 16000
            db.connect-timeout = soon              | db.connect-timeout               | duration
            db.password = ${env:MISSING}           | db.password                      | MISSING
            db.password = ${PASSWORD}              | db.password                      | ${env:NAME}
            db.password-file = /not/there          | db.password-file                 | /not/there
            topic.orders.mode = json               | topic.orders.mode                | binary, structured
            topic.orders.timeout = 0s              | topic.orders.timeout             | 1 ms
            topic.orders.connect-timeout = 1y      | topic.orders.connect-timeout     | duration
            topic.orders.secret = hunter2          | topic.orders.secret              | whsec_
            topic.orders.secret = ${env:EMPTY}     | topic.orders.secret              | whsec_
            topic.orders.header.ce-id = x          | topic.orders.header.ce-id        | set by Postrider
            topic.orders.tenants = ${env:EMPTY}    | topic.orders.tenants             | empty
            topic.orders.max-attempts = 0          | topic.orders.max-attempts        | 1 to 1000000
            topic.orders.max-attempts = x          | topic.orders.max-attempts        | whole number
            topic.orders.base-delay = 0s           | topic.orders.base-delay          | 1 ms
            topic.orders.max-delay = 1s            | topic.orders.max-delay           | base-delay
            topic.orders.max-in-flight = 0         | topic.orders.max-in-flight       | 1 to 10000
            topic.orders.tenant-prefixed-keys = 1  | topic.orders.tenant-prefixed-keys | true or false
            topic.orders.ordered = yes             | topic.orders.ordered             | true or false
            topic.orders.lanes = -1                | topic.orders.lanes               | 0 (unordered) to 1024
            topic.orders.on-failure = stop         | topic.orders.on-failure          | block, continue, park
            topic.orders.block-after-dead-letter =0 | topic.orders.block-after-dead-letter | true or false
            topic.orders.archive = headers         | topic.orders.archive             | full, without-payload, off
            topic.orders.compress-payloads-above =-1 | topic.orders.compress-payloads-above | 0 (never)
            topic.other.max-attempts = 5           | topic.other.url                  | is missing
            topic.other.url = nonsense             | topic.other.url                  | http
            topic.other.url = ht tp://x            | topic.other.url                  | is not a URL
            topic.other.url = http://localhost/    | topic.other.url                  | topic.other.allow-private-addresses=true
            topic.other.url = http://10.0.0.1/     | topic.other.url                  | topic.other.allow-private-addresses=true
            topic.-x.url = https://a.example       | topic.-x                         | is not a name for a topic
            topic.a/b/c.url = https://a.example    | topic.a/b/c                      | is not a name for a topic
            db.url = jdbc:postgresql://other/x     | db.url                           | given twice
            admin-port = 70000                     | admin-port                       | 0 (any free port) to 65535
            admin-read-only = yes                  | admin-read-only                  | true or false
            admin-payloads = all                   | admin-payloads                   | none, viewer, operator, admin
            admin.operator.ann.role = boss         | admin.operator.ann.role          | viewer, operator, admin
            admin.operator.ann.role = viewer       | admin.operator.ann.token         | openssl rand -hex 32
            admin.operator.ann.token = hunter2     | admin.operator.ann.token         | 20 to 500
            admin.operator.ann.token-file = /not/there | admin.operator.ann.token-file | /not/there
            admin.operator.ann.rule = viewer       | admin.operator.ann.rule          | did you mean admin.operator.ann.role?
            admin.operator.token = x               | admin.operator.token             | is not a property
            """)
    void aLineThatCannotWorkIsRefusedByName(String line, String property, String advice) {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> load(MINIMAL + line + "\n"))
                .satisfies(e -> assertThat(e.property()).isEqualTo(property))
                .withMessageStartingWith(property + " ")
                .withMessageContaining(advice)
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("hunter2"));
    }

    @Test
    void twoPasswordsAreRefused() throws Exception {
        Path password = Files.writeString(directory.resolve("password"), "x");

        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> load(MINIMAL + "db.password=y\ndb.password-file=" + password))
                .withMessageContaining("db.password-file");
    }

    @Test
    void theDatabaseAndATopicAreRequired() {
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> load("topic.orders.url = https://shop.example"))
                .withMessageStartingWith("db.url is missing");
        assertThatExceptionOfType(InvalidConfigurationException.class)
                .isThrownBy(() -> load("db.url = jdbc:postgresql://localhost/shop"))
                .withMessageStartingWith("topic.<name>.url is missing");
    }

    @Test
    void aFileThatIsNoTextIsRefused() throws Exception {
        Path file = Files.write(directory.resolve("x"), "db.user=Jörg".getBytes(StandardCharsets.ISO_8859_1));
        Path escape = Files.writeString(directory.resolve("y"), "db.user=\\u12");

        assertThatExceptionOfType(CommandFailure.class)
                .isThrownBy(() -> RelayConfig.load(file, ENVIRONMENT::get))
                .withMessageContaining("UTF-8");
        assertThatExceptionOfType(CommandFailure.class)
                .isThrownBy(() -> RelayConfig.load(escape, ENVIRONMENT::get))
                .withMessageContaining("backslash");
    }

    @Test
    void nothingShowsThePassword() {
        assertThat(new Login("jdbc:postgresql://h/x?password=hunter2", "relay", "hunter2"))
                .hasToString("jdbc:postgresql://h/x?*** as relay");
    }
}
