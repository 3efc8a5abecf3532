package dev.postrider.contracts;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.StoredMessage;
import dev.postrider.dispatch.Topic;
import dev.postrider.encryption.AesGcmPayloadCipher;
import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.encryption.EncryptedPayload;
import dev.postrider.encryption.PayloadCipher;
import dev.postrider.encryption.PayloadContext;
import dev.postrider.encryption.PayloadEncryptionException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.event.Event;
import dev.postrider.inbox.Accepted;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.internal.store.TopicStorage;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.Payload;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Enqueued;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.Settlement;
import dev.postrider.store.TableOptions;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The contract of encrypted payloads: the database never has the clear text, every reader of a node with the keys has it, and what cannot be
 * decrypted is neither lost nor in the way of others.
 */
public abstract class EncryptionContract extends LaneFixture {

    private static final int ABOVE = 1000;
    private static final String SECRET = "4111-1111";
    private static final String SMALL = "{\"card\":\"" + SECRET + "\"}";
    private static final String LARGE =
            "{\"card\":\"" + SECRET + "\",\"text\":\"" + "compresses well, ".repeat(250) + "\"}";

    private final AesGcmPayloadCipher first = AesGcmPayloadCipher.with("k1", key(1));
    private final AesGcmPayloadCipher rotated =
            AesGcmPayloadCipher.with("k2", key(2)).reading("k1", key(1));
    private final List<Message> handled = new CopyOnWriteArrayList<>();

    private static byte[] key(int fill) {
        byte[] key = new byte[32];
        Arrays.fill(key, (byte) fill);
        return key;
    }

    /** A cipher that a test makes fail. */
    private static final class Switchable implements PayloadCipher {

        private final PayloadCipher cipher;
        final Set<String> unavailable = ConcurrentHashMap.newKeySet();
        volatile @Nullable RuntimeException failure;

        Switchable(PayloadCipher cipher) {
            this.cipher = cipher;
        }

        private void failIfTold() {
            RuntimeException told = failure;
            if (told != null) {
                throw told;
            }
        }

        @Override
        public EncryptedPayload encrypt(byte[] payload, PayloadContext context) {
            failIfTold();
            return cipher.encrypt(payload, context);
        }

        @Override
        public byte[] decrypt(EncryptedPayload encrypted, PayloadContext context) {
            failIfTold();
            if (unavailable.contains(encrypted.keyId())) {
                throw new CipherUnavailableException("key store of " + encrypted.keyId() + " does not answer", null);
            }
            return cipher.decrypt(encrypted, context);
        }

        @Override
        public List<byte[]> hashes(byte[] payload, byte[] mark) {
            return cipher.hashes(payload, mark);
        }
    }

    private Postrider with(PayloadCipher cipher) {
        return with(cipher, declared -> {});
    }

    private Postrider with(PayloadCipher cipher, Consumer<Topic.Builder> declaration) {
        return postrider(
                builder -> builder.topic(topic, declared -> declaration.accept(declared.encryptPayloads(cipher)))
                        .listener(events::add));
    }

    /** A node with one lane and this cipher. */
    private Holder holder(PayloadCipher cipher) {
        StorageOptions options = new StorageOptions(
                TableOptions.defaults(), Map.of(TopicName.of(topic), new TopicStorage(null, 0, cipher)));
        return take(JdbcDatabase.open(dataSource(), options, SOON, events::add).lanes(), topic);
    }

    private Message numbered(String key, int number) {
        return message()
                .key(key)
                .json("{\"n\":" + number + "}" + SMALL.repeat(5))
                .build();
    }

    /** The column of a message. The id is compared here, because each database stores it in its own way. */
    private byte[] stored(String table, Message message) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                PreparedStatement select = connection.prepareStatement(
                        "SELECT id, payload FROM " + table + " WHERE topic = '" + topic + "'");
                ResultSet rows = select.executeQuery()) {
            boolean binary = product().equals("MySQL") || product().equals("MariaDB");
            while (rows.next()) {
                UUID id = binary ? uuid(rows.getBytes(1)) : rows.getObject(1, UUID.class);
                if (message.id().value().equals(id)) {
                    return rows.getBytes(2);
                }
            }
            throw new AssertionError("no such row");
        }
    }

    private static UUID uuid(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new UUID(buffer.getLong(), buffer.getLong());
    }

    private void assertSecret(byte[] column) {
        assertThat(new String(column, ISO_8859_1)).doesNotContain(SECRET).doesNotContain("compresses");
    }

    private void store(Message message, byte[] column) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                PreparedStatement update = connection.prepareStatement(
                        "UPDATE postrider_message SET payload = ? WHERE topic = '" + topic + "' AND type = ?")) {
            update.setBytes(1, column);
            update.setString(2, message.type());
            assertThat(update.executeUpdate()).isEqualTo(1);
        }
    }

    private Message typed(String type, String json) {
        return Message.to(topic).type(type).json(json).build();
    }

    // Writing and delivering

    @Test
    void everyInsertWritesEncryptedPayloadsAndEveryClaimDecryptsThem() throws SQLException {
        Postrider postrider = with(first, declared -> declared.compressPayloadsAbove(ABOVE));
        List<Message> messages = new ArrayList<>();
        for (int batch : List.of(1, 3)) {
            for (int variant = 0; variant < 4; variant++) {
                List<Message> some = new ArrayList<>();
                for (int i = 0; i < batch; i++) {
                    Message.Builder message =
                            message().json(i == 1 ? LARGE : SMALL).tenant(i == 2 ? "acme" : null);
                    if (variant % 2 == 1) {
                        message.idempotencyKey(batch + "/" + variant + "/" + i);
                    }
                    if (variant > 1) {
                        message.deliverAt(Instant.EPOCH).correlationId("order-17");
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

        assertThat(attributes("encryption", topic)).hasSameSizeAs(messages).containsOnly("k1");
        for (Message message : messages) {
            assertSecret(stored("postrider_message", message));
        }
        List<Claim> claims = with(rotated).store().claim(request().limit(1000));
        assertThat(claims)
                .extracting(claim -> claim.message().asReceived())
                .containsExactlyInAnyOrderElementsOf(
                        messages.stream().map(Message::asReceived).toList());
        claims.forEach(
                claim -> assertThat(postrider.store().acknowledge(claim)).isInstanceOf(Settlement.Settled.class));
        for (Message message : messages) {
            assertSecret(stored("postrider_archive", message));
        }
    }

    @Test
    void stagedMessagesAreHandedOverAndArchivedEncrypted() throws Exception {
        Postrider postrider = with(
                first,
                declared -> declared.compressPayloadsAbove(ABOVE).process((message, work) -> handled.add(message)));
        postrider.start();
        Message message = message().json(LARGE).build();

        postrider.inTransaction(work -> work.stage(message));

        eventually("it is handled", () -> live() == 0);
        assertThat(handled).extracting(Message::payload).containsExactly(message.payload());
        assertSecret(stored("postrider_archive", message));
        assertThat(events.toString()).doesNotContain(SECRET);
    }

    @Test
    void messagesWrittenBeforeTheTopicHadACipherAreDelivered() throws SQLException {
        Message clear = message().json(SMALL).build();
        enqueue(postrider(), clear);
        Postrider postrider = with(first);
        Message encrypted = message().json(SMALL).build();
        enqueue(postrider, encrypted);

        assertThat(claim(postrider))
                .extracting(claim -> claim.message().payload())
                .containsExactly(clear.payload(), encrypted.payload());
    }

    @Test
    void lanesAndTheirBlockedKeysDecryptPayloads() throws SQLException {
        Postrider postrider =
                with(first, declared -> declared.ordered().lanes(1).compressPayloadsAbove(100));
        Holder node = holder(rotated);
        for (int i = 0; i < 3; i++) {
            enqueue(postrider, numbered("a", i));
        }

        List<LaneClaim> claims = node.read();
        assertThat(numbers(claims)).containsExactly(0, 1, 2);
        assertThat(claims.get(0).claim().message().payload().asText()).isEqualTo("{\"n\":0}" + SMALL.repeat(5));
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)), blocked(claims.get(2)));
        assertThat(numbers(node.timed())).containsExactly(0, 1, 2);
    }

    @Test
    void keysRotateUnderRunningNodes() throws Exception {
        needsConcurrency();
        Consumer<Topic.Builder> handling = declared -> declared.process((message, work) -> handled.add(message));
        Postrider old = with(first.reading("k2", key(2)), handling);
        old.start();
        Set<UUID> written = new HashSet<>();
        write(old, written);
        Postrider young = with(rotated, handling);
        young.start();
        write(young, written);
        write(old, written);
        old.stop();
        write(young, written);

        eventually("all are handled", () -> live() == 0);
        assertThat(handled).extracting(message -> message.id().value()).containsExactlyInAnyOrderElementsOf(written);
        assertThat(handled).extracting(Message::payload).containsOnly(Payload.json(SMALL));
        Set<String> keys =
                new HashSet<>(list("SELECT attributes FROM postrider_archive WHERE topic = '" + topic + "'"));
        assertThat(keys).containsExactlyInAnyOrder("{\"encryption\":\"k1\"}", "{\"encryption\":\"k2\"}");
    }

    private void write(Postrider postrider, Set<UUID> written) {
        for (int i = 0; i < 5; i++) {
            Message message = message().json(SMALL).build();
            postrider.inTransaction(work -> work.stage(message));
            written.add(message.id().value());
        }
    }

    // What cannot be decrypted

    @Test
    void tamperedPayloadsAreDeadLettersAndTheirNeighboursAreClaimed() throws SQLException {
        Postrider postrider = with(first);
        List<UnaryOperator<byte[]>> changes = List.of(
                column -> flipped(column, 0),
                column -> flipped(column, 4),
                column -> flipped(column, 5),
                column -> flipped(column, 20),
                column -> flipped(column, column.length - 1),
                column -> Arrays.copyOf(column, column.length - 1),
                column -> Arrays.copyOf(column, 3),
                column -> new byte[0]);
        for (UnaryOperator<byte[]> change : changes) {
            Message spoilt = typed("spoilt", SMALL);
            enqueue(postrider, spoilt);
            enqueue(postrider, typed("right", SMALL));
            store(spoilt, change.apply(stored("postrider_message", spoilt)));

            List<Claim> claims = claim(postrider);

            assertThat(claims).extracting(claim -> claim.message().type()).containsExactly("right");
            postrider.store().acknowledge(claims.get(0));
            StoredMessage dead = postrider.admin().deadLetters(topic, 10).get(0);
            assertThat(dead.reason()).isEqualTo("UNREADABLE");
            assertThat(dead.lastError())
                    .containsPattern("cannot be decrypted|is damaged")
                    .doesNotContain(SECRET);
            postrider.admin().discard(dead.message().id(), "ada");
        }
    }

    private static byte[] flipped(byte[] column, int at) {
        byte[] changed = column.clone();
        changed[at] ^= 1;
        return changed;
    }

    @Test
    void payloadsThatAreExchangedBetweenTwoRowsAreDeadLetters() throws SQLException {
        Postrider postrider = with(first);
        Message one = typed("one", SMALL);
        Message two = typed("two", SMALL);
        enqueue(postrider, one);
        enqueue(postrider, two);
        byte[] ofOne = stored("postrider_message", one);
        store(one, stored("postrider_message", two));
        store(two, ofOne);

        assertThat(claim(postrider)).isEmpty();

        assertThat(postrider.admin().deadLetters(topic, 10))
                .hasSize(2)
                .allSatisfy(dead -> assertThat(dead.lastError()).contains("moved from another row"));
    }

    @Test
    void nodeWithoutTheKeyMakesADeadLetterThatANodeWithTheKeyDelivers() throws SQLException {
        Postrider writer = with(rotated);
        Postrider withoutCipher = postrider();
        Message message = message().json(SMALL).build();
        enqueue(writer, message);
        for (Postrider node : List.of(withoutCipher, with(first))) {
            assertThat(claim(node)).isEmpty();

            StoredMessage dead = writer.admin().deadLetters(topic, 10).get(0);
            assertThat(dead.reason()).isEqualTo("UNREADABLE");
            assertThat(dead.lastError())
                    .contains(node == withoutCipher ? "this node declares no cipher" : "does not have the key 'k2'");
            writer.admin().replay(message.id(), "ada");
        }

        assertThat(claim(writer)).extracting(claim -> claim.message().payload()).containsExactly(message.payload());
    }

    @Test
    void unreadableMessageOfALaneIsADeadLetterAndItsKeyGoesOn() throws SQLException {
        Postrider postrider = with(first, declared -> declared.ordered().lanes(1));
        Holder node = holder(first);
        enqueue(postrider, numbered("a", 0));
        execute("UPDATE postrider_message SET attributes = '{\"encryption\":\"k9\"}' WHERE topic = '" + topic + "'");
        enqueue(postrider, numbered("a", 1));

        assertThat(numbers(node.read())).containsExactly(1);

        StoredMessage dead = postrider.admin().deadLetters(topic, 10).get(0);
        assertThat(dead.lastError()).contains("does not have the key 'k9'");
        assertThat(foundLate()).isZero();
    }

    @Test
    void cipherThatThrowsMakesADeadLetterWithoutItsText() throws SQLException {
        Switchable cipher = new Switchable(first);
        Postrider postrider = with(cipher);
        enqueue(postrider, message().json(SMALL).build());
        cipher.failure = new IllegalStateException("key 0101, text " + SECRET);

        assertThat(claim(postrider)).isEmpty();

        assertThat(column("last_error"))
                .isEqualTo("the payload cannot be decrypted: the cipher threw java.lang.IllegalStateException");
    }

    // A cipher that is not available

    @Test
    void messagesWaitForTheirCipherWithoutAnAttempt() throws SQLException {
        Switchable cipher = new Switchable(rotated);
        Postrider postrider = with(cipher);
        enqueue(with(first), message().json(SMALL).build());
        cipher.unavailable.add("k1");

        for (int i = 0; i < 10; i++) {
            assertThatThrownBy(() -> claim(postrider))
                    .isInstanceOf(CipherUnavailableException.class)
                    .hasMessageContaining(topic)
                    .hasMessageContaining("key store of k1 does not answer");
            assertThat(claim(postrider)).as("it waits for a few seconds").isEmpty();
            advance(Duration.ofSeconds(6));
        }
        enqueue(postrider, message().json(SMALL).build());
        List<Claim> other = claim(postrider);
        assertThat(other).as("a message of another key").hasSize(1);
        postrider.store().acknowledge(other.get(0));
        assertThat(column("state")).isEqualTo("PENDING");
        assertThat(column("attempts")).isEqualTo("0");
        assertThat(column("crashes")).isEqualTo("0");
        assertThat(column("last_error")).contains("key store of k1 does not answer");

        cipher.unavailable.clear();
        advance(Duration.ofSeconds(6));
        List<Claim> claims = claim(postrider);
        assertThat(claims).hasSize(1);
        assertThat(claims.get(0).attempt()).isEqualTo(1);
        assertThat(claims.get(0).message().payload()).isEqualTo(Payload.json(SMALL));
    }

    @Test
    void laneReadsOtherKeysWhileACipherIsNotAvailableAndKeepsTheOrder() throws SQLException {
        Switchable cipher = new Switchable(rotated);
        Postrider old = with(first, declared -> declared.ordered().lanes(1));
        Postrider young = with(rotated, declared -> declared.ordered().lanes(1));
        Holder node = holder(cipher);
        enqueue(old, numbered("a", 0));
        enqueue(young, numbered("a", 1));
        enqueue(young, numbered("b", 2));
        enqueue(old, numbered("c", 3));
        enqueue(young, numbered("b", 4));
        cipher.unavailable.add("k1");

        List<LaneClaim> claims = node.read();
        assertThat(numbers(claims)).containsExactly(2, 4);
        node.deliver(claims);
        assertThatThrownBy(node::read).isInstanceOf(CipherUnavailableException.class);
        enqueue(young, numbered("d", 5));
        assertThat(numbers(node.read())).containsExactly(5);
        assertThat(states()).containsOnly("PENDING");
        assertThat(attempts()).containsOnly("0");

        cipher.unavailable.clear();
        assertThat(numbers(node.read())).containsExactly(0, 1, 3);
        assertThat(foundLate()).isZero();
    }

    @Test
    void blockedKeyWaitsForItsCipher() throws SQLException {
        Switchable cipher = new Switchable(first);
        Postrider postrider = with(first, declared -> declared.ordered().lanes(1));
        Holder node = holder(cipher);
        enqueue(postrider, numbered("a", 0));
        enqueue(postrider, numbered("a", 1));
        List<LaneClaim> claims = node.read();
        node.settle(retryAtOnce(claims.get(0)), blocked(claims.get(1)));
        cipher.unavailable.add("k1");

        assertThat(node.timed()).isEmpty();
        assertThat(events)
                .anyMatch(event -> event instanceof Event.StoreFailed failed
                        && failed.error().contains("key store of k1 does not answer"));
        cipher.unavailable.clear();
        assertThat(numbers(node.timed())).containsExactly(0, 1);
    }

    @Test
    void runningNodeDeliversWhenTheCipherComesBack() throws Exception {
        Switchable cipher = new Switchable(first);
        cipher.unavailable.add("k1");
        Postrider node = with(
                cipher,
                declared -> declared.maxAttempts(1)
                        .retry(RetryPolicy.constant(Duration.ZERO))
                        .process((message, work) -> handled.add(message)));
        enqueue(with(first), message().json(SMALL).build());
        node.start();
        eventually(
                "it is tried",
                () -> events.stream()
                        .anyMatch(event -> event instanceof Event.StoreFailed failed
                                && failed.error().contains("does not answer")));

        cipher.unavailable.clear();
        advance(Duration.ofSeconds(6));

        eventually("it is delivered", () -> live() == 0);
        assertThat(handled).hasSize(1);
    }

    // Writing with a cipher that fails

    @Test
    void messageThatCannotBeEncryptedIsNotWrittenAndTheTransactionStaysUsable() throws SQLException {
        Switchable cipher = new Switchable(first);
        Postrider postrider = with(cipher);
        List<RuntimeException> failures = List.of(
                new IllegalStateException("text " + SECRET), new CipherUnavailableException("no key store", null));
        for (RuntimeException failure : failures) {
            cipher.failure = failure;
            try (Connection connection = transaction()) {
                List<Message> batch = List.of(
                        message().json(SMALL).build(), message().json(LARGE).build());
                assertThatThrownBy(() -> postrider.outbox(connection).enqueueAll(batch))
                        .isInstanceOfAny(PayloadEncryptionException.class, CipherUnavailableException.class)
                        .message()
                        .doesNotContain(SECRET);
                cipher.failure = null;
                postrider.outbox(connection).enqueue(message().json(SMALL).build());
                connection.commit();
            }
        }
        assertThat(live()).isEqualTo(2);

        cipher.failure = new IllegalStateException("text " + SECRET);
        assertThatThrownBy(() -> postrider.inTransaction(
                        work -> work.stage(message().json(SMALL).build())))
                .isInstanceOf(PayloadEncryptionException.class);
        assertThat(live()).isEqualTo(2);
    }

    // Duplicates

    @Test
    void duplicatesAreRecognisedByAKeyedHashAlsoAfterARotation() throws Exception {
        Postrider postrider = with(first);
        Message keyed = message().json(SMALL).idempotencyKey("order-17").build();
        Message unkeyed = message().json(SMALL).build();
        enqueue(postrider, keyed);
        enqueue(postrider, unkeyed);

        byte[] hash = bytes("SELECT payload_hash FROM postrider_dedup WHERE topic_id ="
                + " (SELECT id FROM postrider_topic WHERE topic = '" + topic + "')");
        assertThat(hash).isNotEqualTo(sha256(SMALL));
        for (Postrider again : List.of(postrider, with(rotated))) {
            assertThat(enqueue(
                            again,
                            message().json(SMALL).idempotencyKey("order-17").build()))
                    .isEqualTo(new Enqueued.Duplicate(keyed.id(), "order-17", true));
            assertThat(enqueue(
                            again,
                            message().json(LARGE).idempotencyKey("order-17").build()))
                    .isEqualTo(new Enqueued.Duplicate(keyed.id(), "order-17", false));
            assertThat(enqueue(again, unkeyed))
                    .isEqualTo(new Enqueued.Duplicate(unkeyed.id(), unkeyed.id().toString(), true));
            Message another = message().id(unkeyed.id()).json(LARGE).build();
            assertThatThrownBy(() -> enqueue(again, another)).isInstanceOf(InvalidMessageException.class);
        }
        assertThat(live()).isEqualTo(2);
    }

    @Test
    void batchIsTakenBackWhenALiveMessageCannotBeCompared() throws SQLException {
        Switchable cipher = new Switchable(first);
        Postrider postrider = with(cipher);
        Message there = message().json(SMALL).build();
        enqueue(postrider, there);
        cipher.unavailable.add("k1");
        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> postrider
                            .outbox(connection)
                            .enqueueAll(List.of(message().json(SMALL).build(), there)))
                    .isInstanceOf(CipherUnavailableException.class);
            connection.commit();
        }
        assertThat(live()).isEqualTo(1);
    }

    private byte[] bytes(String select) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(select);
                ResultSet row = statement.executeQuery()) {
            assertThat(row.next()).isTrue();
            return row.getBytes(1);
        }
    }

    private static byte[] sha256(String text) throws NoSuchAlgorithmException {
        return MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
    }

    // Operators

    @Test
    void adminShowsPayloadsAsEncryptedUnlessItIsGivenTheCipher() throws SQLException {
        Postrider postrider = with(
                first,
                declared -> declared.maxAttempts(1).process((message, work) -> {
                    throw new IllegalStateException("refused");
                }));
        Message message = message().json(SMALL).correlationId("order-17").build();
        enqueue(postrider, message);
        assertThat(postrider.deliverDue()).isEqualTo(1);

        int size = stored("postrider_message", message).length;
        List<StoredMessage> closed = new ArrayList<>(postrider.admin().deadLetters(topic, 10));
        closed.add(postrider.admin().find(message.id()).orElseThrow());
        closed.add(postrider.admin().explain(message.id()).orElseThrow().message());
        assertThat(closed).hasSize(3).allSatisfy(dead -> {
            assertThat(dead.isEncrypted()).isTrue();
            assertThat(dead.message().payload().asText())
                    .isEqualTo("encrypted with key 'k1', " + size + " bytes stored");
            assertThat(dead.message().correlationId()).isEqualTo("order-17");
            assertThat(dead.lastError()).contains("refused");
            assertThat(dead.toString()).doesNotContain(SECRET);
        });
        StoredMessage open = postrider.adminWithPayloads().find(message.id()).orElseThrow();
        assertThat(open.isEncrypted()).isFalse();
        assertThat(open.message().payload()).isEqualTo(message.payload());
        StoredMessage withoutKey =
                postrider().adminWithPayloads().find(message.id()).orElseThrow();
        assertThat(withoutKey.message().payload().asText())
                .contains("declares no cipher")
                .doesNotContain(SECRET);
        assertThat(query("SELECT payload FROM postrider_message_text WHERE topic = '" + topic + "'"))
                .isEqualTo("encrypted, " + size + " bytes");
    }

    @Test
    void deadLetterIsReplayedWithItsPayload() throws SQLException {
        List<String> failures = new CopyOnWriteArrayList<>(List.of("once"));
        Postrider postrider = with(
                first,
                declared -> declared.maxAttempts(1).process((message, work) -> {
                    if (!failures.isEmpty()) {
                        throw new IllegalStateException(failures.remove(0));
                    }
                    handled.add(message);
                }));
        Message message = message().json(SMALL).build();
        enqueue(postrider, message);
        assertThat(postrider.deliverDue()).isEqualTo(1);
        postrider.admin().replay(message.id(), "ada");

        assertThat(postrider.deliverDue()).isEqualTo(1);

        assertThat(handled).extracting(Message::payload).containsExactly(message.payload());
        StoredMessage archived = postrider.admin().find(message.id()).orElseThrow();
        assertThat(archived.state()).isEqualTo(StoredMessage.State.DELIVERED);
        assertThat(archived.isEncrypted()).isTrue();
    }

    // The durable inbox

    @Test
    void inboxStoresWhatItReceivesEncryptedAlsoForHandlersOfOtherProcesses() throws Exception {
        Postrider handling = postrider(builder -> builder.inbox(
                topic,
                inbox -> inbox.encryptPayloads(rotated)
                        .handler("bill", "thing.happened", (message, work) -> handled.add(message))));
        Postrider receiving = postrider(builder -> builder.inbox(topic, inbox -> inbox.encryptPayloads(first)));
        Message received = received("1", "thing.happened", SMALL);
        Message unhandled = received("2", "thing.unknown", SMALL);

        receiving.inbox(topic).receive(List.of(received, unhandled));

        assertThat(list("SELECT attributes FROM postrider_message WHERE topic LIKE '" + topic + "%'"))
                .hasSize(2)
                .allMatch(attributes -> attributes.startsWith("{\"encryption\":\"k1\""));
        assertThat(bytes("SELECT payload_hash FROM postrider_inbox_mark WHERE consumer = '" + topic + "'"))
                .isNotEqualTo(sha256(SMALL));
        Accepted again = handling.inbox(topic).receive(List.of(received, received("2", "thing.unknown", LARGE)));
        assertThat(again.duplicates()).hasSize(1);
        assertThat(again.collisions()).hasSize(1);
        assertThat(handling.deliverDue()).isEqualTo(1);
        assertThat(handled).containsExactly(received);
        StoredMessage dead = handling.admin().deadLetters("inbox/" + topic, 10).get(0);
        assertThat(dead.isEncrypted()).isTrue();
        assertThat(dead.receivedId()).isEqualTo(unhandled.id());
    }

    private static Message received(String id, String type, String json) {
        return Message.received("elsewhere", id).type(type).json(json).build();
    }

    @Test
    void deadLetterOfAConsumerIsRoutedAndEncryptedAgain() throws SQLException {
        Postrider before = postrider(builder -> builder.inbox(topic, inbox -> inbox.encryptPayloads(first)));
        Message received = received("3", "thing.happened", SMALL);
        before.inbox(topic).receive(List.of(received));
        StoredMessage dead = before.admin().deadLetters("inbox/" + topic, 10).get(0);
        before.close();
        Postrider after = postrider(builder -> builder.inbox(
                topic,
                inbox -> inbox.encryptPayloads(rotated)
                        .handler("bill", "thing.happened", (message, work) -> handled.add(message))));
        after.admin().replay(dead.message().id(), "ada");

        assertThat(after.deliverDue()).isPositive();
        after.deliverDue();

        assertThat(handled).containsExactly(received);
    }

    // The bytes of a claim

    @Test
    void claimCountsTheBytesThatAPayloadHasInMemory() throws SQLException {
        List<Consumer<Topic.Builder>> declarations = List.of(
                declared -> declared.compressPayloadsAbove(ABOVE),
                declared -> declared.encryptPayloads(first),
                declared -> declared.compressPayloadsAbove(ABOVE).encryptPayloads(first));
        for (Consumer<Topic.Builder> declaration : declarations) {
            Postrider postrider = postrider(builder -> builder.topic(topic, declaration));
            for (int i = 0; i < 5; i++) {
                enqueue(postrider, message().json(LARGE).build());
            }

            List<Integer> sizes = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                List<Claim> claims = postrider.store().claim(request().maxBytes(LARGE.length() + 1));
                sizes.add(claims.size());
                claims.forEach(claim -> postrider.store().acknowledge(claim));
            }

            assertThat(sizes)
                    .as("the message that reaches the limit is the last one")
                    .containsExactly(2, 2, 1);
        }
    }

    @Test
    void readOfALaneCountsTheBytesThatAPayloadHasInMemory() throws SQLException {
        Postrider postrider =
                with(first, declared -> declared.ordered().lanes(1).compressPayloadsAbove(100));
        Holder node = holder(first);
        int size = numbered("a", 0).payload().size();
        for (int i = 0; i < 5; i++) {
            enqueue(postrider, numbered("a", i));
        }

        List<LaneClaim> claims = new ArrayList<>(node.read(100, size + 1));
        assertThat(numbers(claims)).containsExactly(0, 1);
        claims.addAll(node.read(100, size + 1));
        claims.addAll(node.read(100, size + 1));
        assertThat(numbers(claims)).containsExactly(0, 1, 2, 3, 4);
        node.settle(
                retryAtOnce(claims.get(0)),
                blocked(claims.get(1)),
                blocked(claims.get(2)),
                blocked(claims.get(3)),
                blocked(claims.get(4)));
        assertThat(node.store().readTimed(node.lane().topic(), Set.of(node.lane()), 100, size + 1))
                .hasSize(2);
        assertThat(foundLate()).isZero();
    }

    @Test
    void clearPayloadIsLimitedBeforeItIsEncrypted() {
        Postrider postrider = postrider(builder -> builder.topic(topic, declared -> declared.encryptPayloads(first))
                .tables(tables -> tables.maxPayloadBytes(SMALL.length())));

        assertThatThrownBy(() -> enqueue(postrider, message().json(SMALL + " ").build()))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageContaining("payload");
    }
}
