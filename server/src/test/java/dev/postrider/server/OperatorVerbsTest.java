package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.admin.StoredMessage;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.server.cli.Terminal;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.transport.PermanentFailureException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The verbs of operators, each on a database with two topics: one delivers nothing, the other one has a poisoned key. */
final class OperatorVerbsTest {

    private static final Terminal ANSWERS_NO = new Terminal(false, false, Optional.of(() -> "no"));
    private static final Terminal ANSWERS_YES = new Terminal(true, true, Optional.of(() -> "y"));

    private final Databases.Empty database = Databases.create();
    private final Postrider postrider = Postrider.on(database.dataSource())
            .topic(
                    "orders",
                    topic -> topic.deliver(delivery -> {
                        throw new PermanentFailureException("no route to 17\u001b[2J");
                    }))
            .topic(
                    "stock",
                    topic -> topic.ordered()
                            .lanes(2)
                            .onFailure(FailurePolicy.PARK)
                            .deliver(delivery -> {
                                throw new IllegalStateException("poison");
                            }))
            .build();

    @BeforeEach
    void migrate() {
        postrider.migrate();
    }

    @AfterEach
    void close() {
        postrider.close();
    }

    private Cli run(String... arguments) {
        return run(Terminal.none(), arguments);
    }

    private Cli run(Terminal terminal, String... arguments) {
        String[] all = new String[arguments.length + 4];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        System.arraycopy(new String[] {"--db", database.url(), "--user", "postgres"}, 0, all, arguments.length, 4);
        return Cli.run(terminal, all);
    }

    private MessageId write(Message.Builder message) {
        Message built = message.json("{\"n\":\"\u001b[31m\"}").build();
        postrider.inTransaction(work -> work.stage(built));
        return built.id();
    }

    private MessageId writeOrder() {
        return write(Message.to("orders").type("order.placed").key("k-1").tenant("acme"));
    }

    private List<MessageId> deadOrders(int number) {
        List<MessageId> ids =
                IntStream.range(0, number).mapToObj(i -> writeOrder()).toList();
        postrider.deliverDue();
        return ids;
    }

    /** The parked head of a key, and the message behind it. */
    private List<MessageId> blockedKey() {
        List<MessageId> ids = List.of(
                write(Message.to("stock").type("stock.changed").key("item-7")),
                write(Message.to("stock").type("stock.changed").key("item-7")));
        postrider.deliverDue();
        return ids;
    }

    private StoredMessage.State state(MessageId id) {
        return postrider.admin().find(id).orElseThrow().state();
    }

    @Test
    void listShowsWhatTheFilterSelectsAndNoEscapeOfAMessage() {
        MessageId dead = deadOrders(1).get(0);
        MessageId waiting = writeOrder();

        Cli all = run("list");
        Cli filtered =
                run("list", "--state", "dead", "--tenant", "acme", "--key", "k-1", "--since", "2h", "--error", "route");
        Cli none = run("list", "--type", "other");

        assertThat(all.exitCode()).isZero();
        assertThat(all.out().lines()).hasSize(3).first().asString().startsWith("ID ");
        assertThat(filtered.out().lines().skip(1))
                .singleElement()
                .asString()
                .startsWith(dead.toString())
                .contains("dead", "orders", "order.placed", "no route to 17");
        assertThat(all.out()).contains(waiting.toString()).doesNotContain("\u001b");
        assertThat(none).isEqualTo(new Cli(0, "No message matches." + System.lineSeparator(), ""));
    }

    @Test
    void listForProgramsIsOneObjectOrOneOnEachLineAndContinuesByCursor() {
        writeOrder();
        writeOrder();
        writeOrder();

        Cli first = run("list", "--limit", "2", "--output", "json");
        Cli lines = run("list", "--output", "ndjson");
        String cursor = first.out().replaceAll("(?s).*\"next\":\"([^\"]+)\".*", "$1");
        Cli rest = run("list", "--cursor", cursor, "--output", "ndjson");

        assertThat(first.out()).startsWith("{\"items\":[{\"id\":\"").contains("\"state\":\"pending\"");
        assertThat(lines.out().lines()).hasSize(3).allMatch(line -> line.startsWith("{\"id\":"));
        assertThat(rest.out().lines()).hasSize(1);
    }

    @Test
    void showSaysWhatTheMessageWaitsForAndThePayloadOnlyWhenAsked() {
        MessageId dead = deadOrders(1).get(0);

        Cli show = run("show", dead.toString());
        Cli payload = run("show", dead.toString(), "--payload");
        Cli json = run("show", dead.toString(), "--payload", "--output", "json");
        Cli missing = run("show", MessageId.next().toString());

        assertThat(show.out()).contains("STATE            dead", "REASON           REJECTED", "waits for an operator");
        assertThat(show.out()).doesNotContain("{\"n\"");
        assertThat(payload.out()).contains("{\"n\":\"\\u001b[31m\"}").doesNotContain("\u001b");
        assertThat(json.out())
                .contains("\"payload\":\"{", "\"waits\":[{\"cause\":\"operator\"")
                .doesNotContain("\u001b");
        assertThat(missing.exitCode()).isEqualTo(7);
        assertThat(missing.err()).contains("There is no message");
    }

    @Test
    void tailPrintsTheNewestMessagesAndEndsAtItsLimit() {
        writeOrder();
        MessageId second = writeOrder();
        MessageId third = writeOrder();

        Cli tail = run("tail", "--lines", "2", "--limit", "2");

        assertThat(tail.exitCode()).isZero();
        assertThat(tail.out().lines())
                .hasSize(2)
                .anyMatch(line -> line.startsWith(second.toString()))
                .anyMatch(line -> line.startsWith(third.toString()));
        assertThat(run("tail", "--for", "0s", "--output", "ndjson").out().lines())
                .hasSize(3);
    }

    @Test
    void failuresAreCountedByTheirFingerprint() {
        deadOrders(3);

        Cli failures = run("failures");
        Cli json = run("failures", "--topic", "orders", "--output", "json");

        assertThat(failures.out().lines().skip(1))
                .singleElement()
                .asString()
                .startsWith("3 ")
                .contains("orders", "no route to 17");
        assertThat(json.out()).contains("\"count\":3", "\"complete\":true");
        assertThat(run("failures", "--topic", "stock").out()).contains("No message is dead or parked.");
    }

    @Test
    void oneMessageIsReplayedAndTheAuditSaysWhoAndWhy() {
        MessageId dead = deadOrders(1).get(0);

        Cli dryRun = run("replay", dead.toString(), "--dry-run");
        assertThat(dryRun.out()).contains("would-change");
        assertThat(state(dead)).isEqualTo(StoredMessage.State.DEAD);

        Cli replay = run("replay", dead.toString(), "--reason", "route restored", "--operator", "ann");

        assertThat(replay.exitCode()).isZero();
        assertThat(replay.out()).contains("done", "pending");
        assertThat(run("audit").out()).contains("ann", "replay", "route restored", dead.toString());
        assertThat(run("audit", "--limit", "1", "--output", "json").out()).contains("\"operator\":\"ann\"");
        assertThat(run("replay", dead.toString()).exitCode())
                .as("no longer dead")
                .isEqualTo(8);
        assertThat(run("replay", MessageId.next().toString()).exitCode()).isEqualTo(7);
    }

    @Test
    void severalIdsOfWhichOneCannotBeChangedAreChangedInPart() {
        List<MessageId> dead = deadOrders(2);
        MessageId waiting = writeOrder();

        Cli replay = run("replay", dead.get(0).toString(), dead.get(1).toString(), waiting.toString());

        assertThat(replay.exitCode()).isEqualTo(6);
        assertThat(replay.out()).contains("wrong-state");
        assertThat(dead).allMatch(id -> state(id) == StoredMessage.State.PENDING);
    }

    @Test
    void allThatAFilterSelectsAreReplayedAfterADryRunAndWithConsent() {
        deadOrders(3);

        Cli dryRun = run("replay", "--topic", "orders", "--dry-run");
        Cli refused = run("replay", "--topic", "orders");
        Cli declined = run(ANSWERS_NO, "replay", "--topic", "orders");

        assertThat(dryRun.exitCode()).isZero();
        assertThat(dryRun.out()).startsWith("Would replay 3 messages (topic=orders), such as:");
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).contains("This would replay 3 messages (topic=orders)", "add --yes");
        assertThat(declined.exitCode()).isEqualTo(1);
        assertThat(declined.err()).contains("[y/N]", "Nothing was changed");
        assertThat(run("failures").out()).contains("3 ");

        Cli part = run("replay", "--topic", "orders", "--yes", "--limit", "2", "--output", "json");
        Cli rest = run(ANSWERS_YES, "replay", "--state", "dead");

        assertThat(part.exitCode()).isEqualTo(6);
        assertThat(part.out()).contains("{\"action\":\"replay\",\"changed\":2,\"skipped\":0,\"next\":\"");
        assertThat(rest.exitCode()).isZero();
        assertThat(rest.out()).contains("Changed 1 message.");
        assertThat(rest.err()).as("progress on a terminal").contains("\r1 message changed");
        assertThat(run("replay", "--topic", "orders", "--yes").exitCode()).isEqualTo(5);
        assertThat(run("replay", "--topic", "orders").exitCode())
                .as("nothing to ask")
                .isEqualTo(5);
        assertThat(run("replay", "--topic", "orders", "--dry-run").exitCode()).isEqualTo(5);
    }

    @Test
    void actionThatNoSelectedStateAllowsIsRefused() {
        Cli replay = run("replay", "--state", "pending", "--yes");

        assertThat(replay.exitCode()).isEqualTo(2);
        assertThat(replay.err()).contains("states");
    }

    @Test
    void discardAsksAlsoForOneMessage() {
        MessageId dead = deadOrders(1).get(0);

        assertThat(run("discard", dead.toString()).exitCode()).isEqualTo(2);
        assertThat(run("discard", dead.toString(), "--yes").exitCode()).isZero();
        assertThat(run("show", dead.toString()).exitCode()).isEqualTo(7);
    }

    @Test
    void blockedKeyIsListedAndItsHeadBuried() {
        List<MessageId> ids = blockedKey();

        Cli keys = run("blocked-keys", "stock");
        Cli behind = run("show", ids.get(1).toString());
        Cli bury = run("bury", ids.get(0).toString());

        assertThat(keys.out().lines().skip(1))
                .singleElement()
                .asString()
                .startsWith("item-7")
                .contains(ids.get(0).toString(), "poison");
        assertThat(behind.out()).contains("waits for the head of its blocked key, " + ids.get(0));
        assertThat(bury.exitCode()).isZero();
        assertThat(state(ids.get(0))).isEqualTo(StoredMessage.State.DEAD);
        assertThat(run("blocked-keys", "orders").out()).contains("has no blocked keys");
    }

    @Test
    void parkedHeadIsRetriedAndARetryingOneParked() {
        MessageId head = blockedKey().get(0);

        assertThat(run("retry", head.toString()).out()).contains("done", "retrying");
        assertThat(run("park", "--topic", "stock", "--state", "retrying", "--yes")
                        .exitCode())
                .isZero();
        assertThat(state(head)).isEqualTo(StoredMessage.State.PARKED);
    }

    @Test
    void topicIsPausedResumedAndRemoved() {
        assertThat(run("pause", "orders").exitCode()).isEqualTo(2);
        assertThat(run("pause", "orders", "--yes").out()).contains("orders is paused");
        assertThat(run("topics").out()).containsPattern("orders +yes +0 +0 +0 +-");
        assertThat(run("status").out()).contains("paused");
        assertThat(run("resume", "orders").out()).contains("orders is resumed");
        assertThat(run("pause", "nothing", "--yes").exitCode()).isEqualTo(7);

        writeOrder();
        assertThat(run("topics", "remove", "orders", "--yes").exitCode()).isEqualTo(8);
        assertThat(run("topics", "remove", "stock", "--yes").exitCode()).isZero();
        assertThat(run("topics", "remove", "stock", "--yes").exitCode()).isEqualTo(7);
    }

    @Test
    void lanesAndNodesAreListed() {
        assertThat(run("lanes", "stock").out().lines()).hasSize(3);
        assertThat(run("lanes", "orders").out()).contains("has no lanes");
        assertThat(run("nodes").out()).contains("No node delivers from this database.");
        assertThat(run("status", "--output", "ndjson").out().lines()).hasSize(2);
    }

    @Test
    void commandsAreListedAndAnUnknownOneIsNotFound() {
        String reference = MessageId.next().toString();

        assertThat(run("commands").out()).contains("No command is uncertain or stuck.");
        assertThat(run("commands", "--state", "stuck", "--output", "json").out())
                .contains("{\"items\":[]}");
        assertThat(run("commands", "show", reference).exitCode()).isEqualTo(7);
        assertThat(run("commands", "resolve", reference, "--as", "failed", "--yes")
                        .exitCode())
                .isEqualTo(7);
    }

    @Test
    void purgeRemovesOnlyWhatIsNamedAndPastItsRetention() {
        deadOrders(3);
        new DatabaseClock(database.dataSource()).advance(Duration.ofDays(2));
        MessageId young = deadOrders(1).get(0);

        Cli other = run("purge", "--archive-retention", "1d", "--key-retention", "1d", "--yes");
        Cli part = run("purge", "--dead-retention", "1d", "--limit", "2", "--yes");
        Cli rest = run(
                "purge",
                "--dead-retention",
                "1d",
                "--inbox-retention",
                "1d",
                "--commands",
                "--yes",
                "--output",
                "json");

        assertThat(other.out()).contains("archived: removed 0", "keys: removed 0");
        assertThat(part.exitCode()).isEqualTo(6);
        assertThat(rest.exitCode()).isZero();
        assertThat(rest.out().strip()).isEqualTo("{\"dead\":1,\"inboxMarks\":0,\"commandResults\":0,\"commands\":0}");
        assertThat(state(young)).isEqualTo(StoredMessage.State.DEAD);
    }

    @Test
    void schemaIsPrintedShownAndMigrated() {
        assertThat(run("schema", "print").out())
                .contains("CREATE TABLE", "postrider_message")
                .isEqualTo(run("migrate", "--dry-run").out());
        assertThat(run("schema", "status").out()).contains("VERSION", "This version works with the tables.");
        assertThat(run("schema", "status", "--output", "json").out()).contains("\"version\":3", "\"fits\":true");
        assertThat(run("schema", "migrate").out()).contains("The tables were up to date.");
    }

    @Test
    void coloursAreForTerminalsOnly() {
        deadOrders(1);

        assertThat(run(ANSWERS_YES, "list").out()).contains("\u001b[31mdead");
        assertThat(run("list").out()).doesNotContain("\u001b");
    }
}
