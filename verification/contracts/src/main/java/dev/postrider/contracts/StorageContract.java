package dev.postrider.contracts;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.admin.StoredMessage;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.dispatch.Topic;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.internal.store.TopicStorage;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Enqueued;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.store.TableOptions;
import dev.postrider.store.TableOptions.Archive;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;

/**
 * The contract of what a topic stores: the part of a delivered message that the archive keeps, and compressed payloads. Whatever is stored,
 * every reader sees the payload that was written.
 */
public abstract class StorageContract extends LaneFixture {

    private static final int ABOVE = 1000;
    private static final String LARGE = "{\"text\":\"" + "what compresses well, ".repeat(200) + "\"}";

    private final List<Message> handled = new CopyOnWriteArrayList<>();

    // The archive of a topic

    private String of(Archive archive) {
        return topic + "-" + archive.name().toLowerCase(Locale.ROOT);
    }

    /** A topic for each choice, and one that leaves it to the option of the tables, which is without payload here. */
    private PostriderBuilder oneTopicForEachChoice(PostriderBuilder builder, Consumer<Topic.Builder> declaration) {
        for (Archive archive : Archive.values()) {
            builder.topic(of(archive), declared -> declaration.accept(declared.archive(archive)));
        }
        return builder.topic(topic, declaration).tables(tables -> tables.archive(Archive.WITHOUT_PAYLOAD));
    }

    private List<String> choices() {
        return List.of(topic, of(Archive.FULL), of(Archive.WITHOUT_PAYLOAD), of(Archive.OFF));
    }

    private void writeToEach(Postrider postrider, int count) throws SQLException {
        for (String each : choices()) {
            for (int i = 0; i < count; i++) {
                Message message = Message.to(each)
                        .type("thing.happened")
                        .key("a")
                        .json("{\"n\":" + i + "}")
                        .build();
                enqueue(postrider, message);
            }
        }
    }

    /** The payloads in the archive of a topic, "null" for none. */
    private List<String> kept(String name) throws SQLException {
        return list(
                "SELECT CASE WHEN payload IS NULL THEN 'headers' ELSE 'payload' END FROM postrider_archive WHERE topic = '"
                        + name + "' ORDER BY seq");
    }

    private void assertKept(int count) throws SQLException {
        String[] headers = new String[count];
        String[] payloads = new String[count];
        Arrays.fill(headers, "headers");
        Arrays.fill(payloads, "payload");
        assertThat(list("SELECT topic FROM postrider_message WHERE topic LIKE '" + topic + "%'"))
                .isEmpty();
        assertThat(kept(topic)).containsExactly(headers);
        assertThat(kept(of(Archive.FULL))).containsExactly(payloads);
        assertThat(kept(of(Archive.WITHOUT_PAYLOAD))).containsExactly(headers);
        assertThat(kept(of(Archive.OFF))).isEmpty();
    }

    @Test
    void eachTopicChoosesItsArchiveAlsoInABatchOfSeveralTopics() throws SQLException {
        Postrider postrider = postrider(builder -> oneTopicForEachChoice(builder, declared -> {}));
        writeToEach(postrider, 3);
        List<Outcome> outcomes = new ArrayList<>();
        for (String each : choices()) {
            for (Claim claim : postrider.store().claim(ClaimRequest.of(each, "worker"))) {
                outcomes.add(outcomes.size() / 2, new Outcome.Delivered(claim));
            }
        }
        assertThat(outcomes).hasSize(12);

        assertThat(postrider.store().settle(outcomes)).hasSize(12).allMatch(Settlement.Settled.class::isInstance);

        assertKept(3);
        assertThat(postrider.store().settle(outcomes)).allMatch(Settlement.LeaseLost.class::isInstance);
        assertKept(3);
    }

    @Test
    void eachOrderedTopicChoosesItsArchiveAlsoInABatchOfSeveralTopics() throws SQLException {
        Postrider postrider = postrider(builder ->
                oneTopicForEachChoice(builder, declared -> declared.ordered().lanes(1)));
        LaneStore store = JdbcDatabase.open(dataSource(), choicesOfANode(), SOON, events::add)
                .lanes();
        List<Holder> nodes = choices().stream().map(each -> take(store, each)).toList();
        writeToEach(postrider, 3);
        List<LaneOutcome> block = new ArrayList<>();
        for (Holder node : nodes) {
            List<LaneClaim> claims = node.read();
            assertThat(numbers(claims)).containsExactly(0, 1, 2);
            block.add(retryAtOnce(claims.get(0)));
            block.add(blocked(claims.get(1)));
            block.add(blocked(claims.get(2)));
        }
        assertThat(store.settle(block)).allMatch(Settlement.Settled.class::isInstance);
        deliverBlockedKeys(store, nodes, 3);
        assertKept(3);

        writeToEach(postrider, 2);
        List<LaneOutcome> inOrder = new ArrayList<>();
        nodes.forEach(node -> node.read().forEach(claim -> inOrder.add(delivered(claim))));
        assertThat(inOrder).hasSize(8);
        assertThat(store.settle(inOrder)).allMatch(Settlement.Settled.class::isInstance);
        assertKept(5);
    }

    private static void deliverBlockedKeys(LaneStore store, List<Holder> nodes, int each) {
        List<LaneOutcome> waiting = new ArrayList<>();
        nodes.forEach(node -> node.timed().forEach(claim -> waiting.add(delivered(claim))));
        assertThat(waiting).hasSize(nodes.size() * each);
        assertThat(store.settle(waiting)).allMatch(Settlement.Settled.class::isInstance);
    }

    private StorageOptions choicesOfANode() {
        TableOptions tables = TableOptions.defaults().with(options -> options.archive(Archive.WITHOUT_PAYLOAD));
        return new StorageOptions(
                tables,
                Map.of(
                        TopicName.of(of(Archive.FULL)), new TopicStorage(Archive.FULL, 0, null),
                        TopicName.of(of(Archive.WITHOUT_PAYLOAD)), new TopicStorage(Archive.WITHOUT_PAYLOAD, 0, null),
                        TopicName.of(of(Archive.OFF)), new TopicStorage(Archive.OFF, 0, null)));
    }

    @Test
    void topicsWithHandlersInTheDatabaseChooseTheirArchive() throws SQLException {
        for (int perTransaction : List.of(1, 10)) {
            Postrider postrider = postrider(builder -> oneTopicForEachChoice(
                    builder,
                    declared -> declared.handlersPerTransaction(perTransaction)
                            .process((message, work) -> handled.add(message))));
            writeToEach(postrider, 3);

            assertThat(postrider.deliverDue()).isEqualTo(12);
        }
        assertKept(6);
    }

    @Test
    void orderedTopicsWithHandlersInTheDatabaseChooseTheirArchive() throws SQLException {
        Postrider postrider = postrider(builder -> oneTopicForEachChoice(
                builder, declared -> declared.ordered().lanes(1).process((message, work) -> handled.add(message))));
        writeToEach(postrider, 3);

        assertThat(postrider.deliverDue()).isEqualTo(12);

        assertKept(3);
    }

    @Test
    void handlersOfTheInboxChooseTheirArchive() throws SQLException {
        Postrider postrider = postrider(builder -> builder.inbox(
                topic,
                inbox -> inbox.handler("kept", "thing.happened", (message, work) -> handled.add(message))
                        .handler(
                                "dropped",
                                List.of("thing.happened"),
                                (message, work) -> handled.add(message),
                                declared -> declared.archive(Archive.OFF))));
        Message received = Message.received("elsewhere", UUID.randomUUID().toString())
                .type("thing.happened")
                .json(LARGE)
                .build();
        postrider.inbox(topic).receive(List.of(received));

        assertThat(postrider.deliverDue()).isEqualTo(2);

        assertThat(kept(topic + ".kept")).containsExactly("payload");
        assertThat(kept(topic + ".dropped")).isEmpty();
    }

    // Compressed payloads

    private Postrider compressing() {
        return postrider(builder -> builder.topic(topic, declared -> declared.compressPayloadsAbove(ABOVE)));
    }

    private static String letters(int count) {
        return new Random(count)
                .ints(count, 'a', 'z' + 1)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private List<String> sizes() throws SQLException {
        return list("SELECT OCTET_LENGTH(payload) FROM postrider_message WHERE topic = '" + topic + "' ORDER BY seq");
    }

    @Test
    void onlyPayloadsAboveTheSizeThatBecomeSmallerAreCompressed() throws SQLException {
        Postrider postrider = compressing();
        byte[] random = new byte[5000];
        new Random(17).nextBytes(random);
        enqueue(postrider, message().json("x".repeat(ABOVE)).build());
        enqueue(postrider, message().json("x".repeat(ABOVE + 1)).build());
        enqueue(postrider, message().payload(Payload.of(random, Payload.BINARY)).build());
        enqueue(postrider, message().json(LARGE).correlationId("order-17").build());

        assertThat(attributes("compression", topic)).containsExactly("zlib", "zlib");
        List<Integer> sizes = sizes().stream().map(Integer::valueOf).toList();
        assertThat(sizes.get(0)).isEqualTo(ABOVE);
        assertThat(sizes.get(1)).isLessThan(100);
        assertThat(sizes.get(2)).isEqualTo(5000);
        assertThat(sizes.get(3)).isLessThan(500);
        List<Claim> claims = claim(postrider);
        assertThat(claims.get(1).message().payload()).isEqualTo(Payload.json("x".repeat(ABOVE + 1)));
        assertThat(claims.get(2).message().payload().bytes()).isEqualTo(random);
        assertThat(claims.get(3).message().payload()).isEqualTo(Payload.json(LARGE));
        assertThat(claims.get(3).message().correlationId()).isEqualTo("order-17");
    }

    @Test
    void everyInsertWritesCompressedPayloads() throws SQLException {
        Postrider postrider = compressing();
        List<Message> messages = new ArrayList<>();
        for (int batch : List.of(1, 3, 30)) {
            for (int variant = 0; variant < 4; variant++) {
                List<Message> some = new ArrayList<>();
                for (int i = 0; i < batch; i++) {
                    Message.Builder message = message().json(LARGE + " ".repeat(messages.size() + i));
                    if (variant % 2 == 1) {
                        message.idempotencyKey(batch + "/" + variant + "/" + i);
                    }
                    if (variant > 1) {
                        message.deliverAt(Instant.EPOCH);
                    }
                    some.add(message.build());
                }
                try (Connection connection = transaction()) {
                    postrider.outbox(connection).enqueueAll(some);
                    connection.commit();
                }
                messages.addAll(some);
            }
        }
        Postrider anyNode = postrider();

        assertThat(attributes("compression", topic)).hasSameSizeAs(messages);
        List<Claim> claims = anyNode.store().claim(request().limit(1000));
        assertThat(claims).hasSameSizeAs(messages);
        Map<MessageId, Payload> written = new HashMap<>();
        messages.forEach(message -> written.put(message.id(), message.payload()));
        assertThat(claims)
                .allSatisfy(claim -> assertThat(claim.message().payload())
                        .isEqualTo(written.get(claim.message().id())));
    }

    @Test
    void stagedMessagesAreCompressedAndHandedOver() throws Exception {
        Postrider postrider = postrider(builder -> builder.topic(
                topic,
                declared -> declared.compressPayloadsAbove(ABOVE).process((message, work) -> handled.add(message))));
        postrider.start();
        Message message = message().json(LARGE).build();

        postrider.inTransaction(work -> work.stage(message));

        eventually("it is handled", () -> live() == 0);
        assertThat(handled).extracting(Message::payload).containsExactly(message.payload());
        StoredMessage archived = postrider.admin().find(message.id()).orElseThrow();
        assertThat(archived.state()).isEqualTo(StoredMessage.State.DELIVERED);
        assertThat(archived.message().payload()).isEqualTo(message.payload());
        assertThat(Integer.parseInt(
                        query("SELECT OCTET_LENGTH(payload) FROM postrider_archive WHERE topic = '" + topic + "'")))
                .isLessThan(500);
    }

    @Test
    void lanesAndTheirBlockedKeysReadCompressedPayloads() throws SQLException {
        Postrider postrider = postrider(builder ->
                builder.topic(topic, declared -> declared.ordered().lanes(1).compressPayloadsAbove(ABOVE)));
        Holder node = holder();
        for (int i = 0; i < 5; i++) {
            enqueue(
                    postrider,
                    message().key("a").json("{\"n\":" + i + "}" + LARGE).build());
        }

        List<LaneClaim> first = node.read(100, 500); // compressed, each is about 100 bytes, and counts in full
        assertThat(first).hasSize(1);
        List<Integer> read = new ArrayList<>(numbers(first));
        assertThat(first.get(0).claim().message().payload().size()).isGreaterThan(LARGE.length());
        for (List<LaneClaim> more = node.read(100, 500); !more.isEmpty(); more = node.read(100, 500)) {
            read.addAll(numbers(more));
            node.renew();
        }
        assertThat(read).containsExactly(0, 1, 2, 3, 4);
        node.settle(retryAtOnce(first.get(0)));
        assertThat(node.timed().get(0).claim().message().payload()).isEqualTo(Payload.json("{\"n\":0}" + LARGE));
        assertThat(foundLate()).isZero();
    }

    @Test
    void deadLetterIsShownAndReplayedWithItsPayload() throws SQLException {
        List<String> failures = new CopyOnWriteArrayList<>(List.of("once"));
        Postrider postrider = postrider(builder -> builder.topic(
                topic,
                declared -> declared.maxAttempts(1)
                        .retry(RetryPolicy.constant(Duration.ZERO))
                        .compressPayloadsAbove(ABOVE)
                        .process((message, work) -> {
                            if (!failures.isEmpty()) {
                                throw new IllegalStateException(failures.remove(0));
                            }
                            handled.add(message);
                        })));
        Message message = message().json(LARGE).build();
        enqueue(postrider, message);
        assertThat(postrider.deliverDue()).isEqualTo(1);

        assertThat(postrider.admin().deadLetters(topic, 10))
                .extracting(dead -> dead.message().payload())
                .containsExactly(message.payload());
        postrider.admin().replay(message.id(), "ada");
        assertThat(postrider.deliverDue()).isEqualTo(1);

        assertThat(handled).extracting(Message::payload).containsExactly(message.payload());
    }

    @Test
    void inboxHandlerGetsThePayloadThatWasReceived() throws SQLException {
        Postrider postrider = postrider(builder -> builder.inbox(
                topic,
                inbox -> inbox.handler(
                        "squeezed",
                        List.of("thing.happened"),
                        (message, work) -> handled.add(message),
                        declared -> declared.compressPayloadsAbove(ABOVE))));
        Message received = Message.received("elsewhere", UUID.randomUUID().toString())
                .type("thing.happened")
                .json(LARGE)
                .build();

        postrider.inbox(topic).receive(List.of(received));

        assertThat(attributes("compression", topic + ".squeezed")).containsExactly("zlib");
        assertThat(postrider.inbox(topic).receive(List.of(received)).duplicates())
                .hasSize(1);
        assertThat(postrider.deliverDue()).isEqualTo(1);
        assertThat(handled).containsExactly(received);
    }

    @Test
    void duplicatesAreRecognisedByTheOriginalPayload() throws SQLException {
        Postrider compressing = compressing();
        Postrider plain = postrider();
        Message unkeyed = message().json(LARGE).build();
        Message keyed = message().json(LARGE).idempotencyKey("order-17").build();
        enqueue(compressing, unkeyed);
        enqueue(compressing, keyed);

        for (Postrider again : List.of(plain, compressing)) {
            assertThat(enqueue(again, unkeyed)).isEqualTo(new Enqueued.Duplicate(unkeyed.id(), key(unkeyed), true));
            assertThat(enqueue(
                            again,
                            message().json(LARGE).idempotencyKey("order-17").build()))
                    .isEqualTo(new Enqueued.Duplicate(keyed.id(), "order-17", true));
            Message another = message().id(unkeyed.id()).json(LARGE + " ").build();
            assertThatThrownBy(() -> enqueue(again, another)).isInstanceOf(InvalidMessageException.class);
        }
        assertThat(live()).isEqualTo(2);
    }

    private static String key(Message message) {
        return message.idempotencyKey() == null ? message.id().toString() : message.idempotencyKey();
    }

    @Test
    void payloadThatIsTooLargeBeforeCompressionIsRefused() {
        Postrider postrider = postrider(builder -> builder.topic(topic, declared -> declared.compressPayloadsAbove(1))
                .tables(tables -> tables.maxPayloadBytes(ABOVE)));

        assertThatThrownBy(() -> enqueue(postrider, message().json(LARGE).build()))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageContaining("payload");
    }

    private static byte[] zlib(int size, byte[] content, Deflater deflater) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(size)
                .array());
        deflater.setInput(content);
        deflater.finish();
        byte[] buffer = new byte[1000];
        while (!deflater.finished()) {
            out.write(buffer, 0, deflater.deflate(buffer));
        }
        deflater.end();
        return out.toByteArray();
    }

    /** Columns that are no compressed payload, each with a part of the reason. */
    private static Map<String, byte[]> damaged() {
        byte[] content = "a".repeat(500).getBytes(US_ASCII);
        byte[] right = zlib(500, content, new Deflater());
        byte[] checksum = right.clone();
        checksum[checksum.length - 1] ^= 1;
        byte[] bomb = zlib(200_000_000, new byte[1_000_000], new Deflater());
        return Map.of(
                "is damaged: it does not have 500 bytes", Arrays.copyOf(right, right.length - 1),
                "is damaged: incorrect data check", checksum,
                "is damaged: it does not have 400 bytes", zlib(400, content, new Deflater()),
                "is damaged: it does not have 600 bytes", zlib(600, content, new Deflater()),
                "is damaged: it is not smaller", new byte[3],
                "is damaged: incorrect header check", "\0\1\0\0not zlib".getBytes(US_ASCII),
                "has 200000000 bytes when decompressed, and max-payload-bytes is 1048576", bomb,
                "has 1048577 bytes when decompressed", zlib(1_048_577, new byte[1_048_577], new Deflater()));
    }

    private void spoil(byte[] column) throws SQLException {
        String first =
                query("SELECT MIN(seq) FROM postrider_message WHERE state <> 'DEAD' AND topic = '" + topic + "'");
        try (Connection connection = dataSource().getConnection();
                PreparedStatement update =
                        connection.prepareStatement("UPDATE postrider_message SET payload = ? WHERE seq = " + first)) {
            update.setBytes(1, column);
            assertThat(update.executeUpdate()).isEqualTo(1);
        }
    }

    @Test
    void damagedOrTooLargeCompressedPayloadIsADeadLetterAndItsNeighboursAreClaimed() throws SQLException {
        Postrider postrider = compressing();
        for (Map.Entry<String, byte[]> damage : damaged().entrySet()) {
            enqueue(postrider, message().json(LARGE).build());
            spoil(damage.getValue());
            enqueue(postrider, message().json(LARGE).build());

            List<Claim> claims = claim(postrider);

            assertThat(claims).hasSize(1);
            postrider.store().acknowledge(claims.get(0));
            StoredMessage dead = postrider.admin().deadLetters(topic, 10).get(0);
            assertThat(dead.reason()).isEqualTo("UNREADABLE");
            assertThat(dead.lastError()).contains(damage.getKey());
            assertThat(dead.message().payload().bytes()).isEqualTo(damage.getValue());
            assertThatThrownBy(() -> enqueue(
                            postrider,
                            message().id(dead.message().id()).json(LARGE).build()))
                    .isInstanceOf(InvalidMessageException.class);
            postrider.admin().discard(dead.message().id(), "ada");
        }
    }

    @Test
    void damagedCompressedPayloadOfALaneIsADeadLetterAndItsKeyGoesOn() throws SQLException {
        Postrider postrider = postrider(builder ->
                builder.topic(topic, declared -> declared.ordered().lanes(1).compressPayloadsAbove(ABOVE)));
        Holder node = holder();
        for (Map.Entry<String, byte[]> damage : damaged().entrySet()) {
            for (int i = 0; i < 3; i++) {
                enqueue(
                        postrider,
                        message().key("a").json("{\"n\":" + i + "}" + LARGE).build());
                if (i == 0) {
                    spoil(damage.getValue());
                }
            }

            List<LaneClaim> claims = new ArrayList<>(node.read());
            claims.addAll(node.read()); // a damaged size can be above the byte budget, and end the first read

            assertThat(numbers(claims)).containsExactly(1, 2);
            node.deliver(claims);
        }
        assertThat(postrider.admin().deadLetters(topic, 100))
                .hasSameSizeAs(damaged().keySet())
                .allMatch(dead -> "UNREADABLE".equals(dead.reason()));
        assertThat(foundLate()).isZero();
    }

    @Test
    void messageThatANodeCannotReadKeepsItsPlaceInItsKey() throws SQLException {
        Postrider small = orderedWithALimitOf(2000, declared -> {});
        Postrider large = orderedWithALimitOf(100_000, declared -> {});
        writeLargeFirst(large);

        small.deliverDue();

        assertThat(handled).isEmpty();
        assertThat(states()).containsExactly("PARKED", "BLOCKED", "BLOCKED");
        assertThat(attempts()).containsExactly("0", "0", "0");
        assertThat(query("SELECT reason FROM postrider_message WHERE state = 'PARKED' AND topic = '" + topic + "'"))
                .isEqualTo("UNREADABLE");
        large.admin().retry(TopicName.of(topic), null, "a", "ada");
        small.deliverDue();
        assertThat(states()).as("still unreadable there").containsExactly("PARKED", "BLOCKED", "BLOCKED");
        large.admin().retry(TopicName.of(topic), null, "a", "ada");
        large.deliverDue();
        assertThat(handled).extracting(Message::type).containsExactly("first", "second", "third");
    }

    @Test
    void messageThatANodeCannotReadIsADeadLetterWhereAKeyContinuesPastThem() throws SQLException {
        List<Consumer<Topic.Builder>> continuing = List.of(
                declared -> declared.onFailure(FailurePolicy.CONTINUE),
                declared -> declared.blockAfterDeadLetter(false));
        for (Consumer<Topic.Builder> declaration : continuing) {
            Postrider small = orderedWithALimitOf(2000, declaration);
            writeLargeFirst(orderedWithALimitOf(100_000, declaration));

            small.deliverDue();

            assertThat(handled).extracting(Message::type).containsExactly("second", "third");
            assertThat(states()).containsExactly("DEAD");
            small.admin()
                    .discard(
                            small.admin().deadLetters(topic, 1).get(0).message().id(), "ada");
            handled.clear();
        }
    }

    private Postrider orderedWithALimitOf(int maxPayloadBytes, Consumer<Topic.Builder> declaration) {
        return postrider(builder -> builder.tables(tables -> tables.maxPayloadBytes(maxPayloadBytes))
                .topic(topic, declared -> {
                    declared.ordered().lanes(1).compressPayloadsAbove(ABOVE);
                    declaration.accept(declared.deliver(delivery -> handled.add(delivery.message())));
                }));
    }

    private void writeLargeFirst(Postrider writer) throws SQLException {
        enqueue(writer, message().key("a").type("first").json(LARGE).build());
        enqueue(writer, message().key("a").type("second").build());
        enqueue(writer, message().key("a").type("third").build());
    }

    @Test
    void attributesOfAnUnknownCompressionMakeTheRowUnreadable() throws SQLException {
        Postrider postrider = compressing();
        enqueue(postrider, message().json(LARGE).build());
        execute("UPDATE postrider_message SET attributes = '{\"compression\":\"zstd\"}' WHERE topic = '" + topic + "'");

        assertThat(claim(postrider)).isEmpty();

        assertThat(column("reason")).isEqualTo("UNREADABLE");
        assertThat(column("last_error")).contains("unknown compression 'zstd'");
    }

    // The view for people at a console

    private String shown() throws SQLException {
        return query("SELECT payload FROM postrider_message_text WHERE topic = '" + topic + "' ORDER BY seq");
    }

    @Test
    void viewShowsCompressedPayloads() throws SQLException {
        Postrider postrider = compressing();
        enqueue(postrider, message().json(LARGE).build());
        if (product().equals("H2")) {
            assertThat(shown()).matches("zlib after four bytes, in hex: [0-9a-f]+");
            return;
        }

        assertThat(shown()).isEqualTo(LARGE);

        Random random = new Random(23);
        for (int i = 0; i < 100; i++) {
            String text = random.nextBoolean()
                    ? letters(1 + random.nextInt(3000))
                    : ("{\"n\":" + random.nextInt() + "}").repeat(1 + random.nextInt(3000));
            Deflater deflater = new Deflater(random.nextInt(10));
            deflater.setStrategy(random.nextInt(3));
            spoil(zlib(text.length(), text.getBytes(US_ASCII), deflater));
            assertThat(shown()).as("%s: %s", i, text).isEqualTo(text);
        }
    }

    @Test
    void viewShowsOtherRowsBesideADamagedPayload() throws SQLException {
        Postrider postrider = compressing();
        enqueue(postrider, message().json(LARGE).build());
        if (product().equals("H2")) {
            needs(false, "H2 shows the bytes of a compressed payload, damaged or not");
        }
        for (byte[] damage : damaged().values()) {
            spoil(damage);
            assertThat(shown())
                    .satisfiesAnyOf(
                            text -> assertThat(text).startsWith("damaged zlib, in base64: "),
                            text -> assertThat(text).matches("(?s)[a\\\\0\\x00]*"));
        }
        spoil("not compressed".getBytes(UTF_8));
        execute("UPDATE postrider_message SET attributes = '{\"headers\":{\"compression\":\"zlib\"}}' WHERE topic = '"
                + topic + "'");
        assertThat(shown()).isEqualTo("not compressed");
    }
}
