package dev.postrider.idempotency;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.StoreException;
import dev.postrider.internal.ErrorText;
import dev.postrider.internal.store.CommandOutcome;
import dev.postrider.internal.store.CommandOutcome.ResultKind;
import dev.postrider.internal.store.CommandOutcome.StoredResult;
import dev.postrider.internal.store.CommandOwner;
import dev.postrider.internal.store.CommandRecord;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Converts results to their stored form and back. The first byte is the format. The rest is compressed if that makes it
 * smaller, and encrypted if a cipher is configured. Encrypted bytes are bound to the row and its version. Thread-safe.
 */
final class ResultEncoding {

    private static final int PLAIN = 0;
    private static final int COMPRESSED = 1;
    private static final int ENCRYPTED = 2;

    private static final int WORTH_COMPRESSING = 256;

    /** The size limit for compression. Larger values are not compressed, and decompression stops at this size. */
    private static final int LARGEST = 16 << 20;

    private static final int MOST_SHORTENED = 2;

    private static final int REASON_LIMIT = 2000;

    /** In characters. The encrypted bytes of such a reason, written as text, still fit into the column. */
    private static final int SEALED_REASON_LIMIT = 400;

    private static final String SEALED_REASON = "encrypted:";

    private final CommandOptions options;

    ResultEncoding(CommandOptions options) {
        this.options = options;
    }

    /**
     * A result and its stored form.
     *
     * @param value the value for the first caller; it is decoded from the encoded bytes, so that all callers get the
     *     same value
     * @param reason the reason of a rejection; null for a success
     */
    record Kept<R>(
            CommandOutcome outcome,
            @Nullable R value,
            @Nullable String reason) {}

    <R> Kept<R> success(Command<R> command, CommandOwner owner, @Nullable R value) {
        return keep(command, owner, value, null);
    }

    /** @throws ClassCastException when the value of the rejection does not have the result type of the command */
    @SuppressWarnings("unchecked") // the codec checks the type
    <R> Kept<R> rejection(Command<R> command, CommandOwner owner, CommandRejectedException rejection) {
        String message = rejection.getMessage();
        return keep(
                command, owner, (R) rejection.result(), ErrorText.clean(message == null ? "" : message, reasonLimit()));
    }

    private <R> Kept<R> keep(Command<R> command, CommandOwner owner, @Nullable R value, @Nullable String reason) {
        byte[] encoded = value == null ? null : command.codec().encode(value);
        StoredResult stored = encoded == null || value == null
                ? StoredResult.without(ResultKind.NONE)
                : store(command, owner, value, encoded);
        CommandOutcome outcome = new CommandOutcome(
                reason != null,
                stored,
                reason == null ? null : sealReason(owner, reason),
                command.options().resultTtl(),
                command.options().keyKept());
        return new Kept<>(outcome, encoded == null ? null : command.codec().decode(encoded), reason);
    }

    private int reasonLimit() {
        return options.cipher() == null ? REASON_LIMIT : SEALED_REASON_LIMIT;
    }

    private String sealReason(CommandOwner owner, String reason) {
        ResultCipher cipher = options.cipher();
        if (cipher == null) {
            return reason;
        }
        byte[] sealed = cipher.encrypt(reason.getBytes(UTF_8), context(owner, EncryptedPart.REASON));
        String text = SEALED_REASON + Base64.getEncoder().encodeToString(sealed);
        if (text.length() > REASON_LIMIT) {
            throw new StoreException("The encrypted reason of a rejection is too long for its column", null);
        }
        return text;
    }

    /** The reason of a rejection, from its stored form. */
    String reason(CommandOwner owner, String stored) {
        boolean sealed = stored.startsWith(SEALED_REASON);
        ResultCipher cipher = cipherFor(sealed, "reason");
        if (!sealed || cipher == null) {
            return stored;
        }
        byte[] bytes = Base64.getDecoder().decode(stored.substring(SEALED_REASON.length()));
        return new String(cipher.decrypt(bytes, context(owner, EncryptedPart.REASON)), UTF_8);
    }

    /**
     * The stored form of the results of steps. A later owner must be able to read them, so they are bound to the
     * command and not to its owner.
     */
    CommandRecord.Steps sealSteps(CommandRecord row, byte[] steps) {
        ResultCipher cipher = options.cipher();
        byte[] body = cipher == null ? steps : cipher.encrypt(steps, stepsContext(row));
        return new CommandRecord.Steps(packed(cipher == null ? PLAIN : ENCRYPTED, body));
    }

    byte @Nullable [] openSteps(CommandRecord row) {
        CommandRecord.Steps steps = row.steps();
        return steps == null ? null : unpack(steps.bytes(), stepsContext(row), "steps");
    }

    /** The outcome of a completed command without a stored result. */
    CommandOutcome without(Command<?> command) {
        return new CommandOutcome(
                false,
                StoredResult.without(ResultKind.OMITTED),
                null,
                command.options().resultTtl(),
                command.options().keyKept());
    }

    private <R> StoredResult store(Command<R> command, CommandOwner owner, R value, byte[] encoded) {
        byte[] context = context(owner, EncryptedPart.RESULT);
        byte[] packed = pack(encoded, context);
        R shortened = value;
        for (int i = 0; packed == null && shortened != null && i < MOST_SHORTENED; i++) {
            shortened = command.codec().shortened(shortened);
            packed = shortened == null ? null : pack(command.codec().encode(shortened), context);
        }
        return packed == null
                ? StoredResult.without(ResultKind.OMITTED)
                : StoredResult.inline(command.codec().name(), packed);
    }

    /** Decodes a stored result. Null if the result has no bytes. */
    <R> @Nullable R read(Command<R> command, CommandOwner owner, StoredResult result) {
        byte[] bytes = result.bytes();
        if (bytes == null) {
            return null;
        }
        if (!command.codec().name().equals(result.codec())) {
            throw new InvalidCommandException(
                    "codec",
                    "is '" + command.codec().name() + "', but the result was stored by '" + result.codec()
                            + "': use that codec until the result is purged");
        }
        return command.codec().decode(unpack(bytes, context(owner, EncryptedPart.RESULT), "result"));
    }

    private byte @Nullable [] pack(byte[] plain, byte[] context) {
        byte[] compressed = plain.length < WORTH_COMPRESSING || plain.length > LARGEST ? plain : deflate(plain);
        boolean helps = compressed.length < plain.length - plain.length / 10;
        byte[] body = helps ? compressed : plain;
        int how = helps ? COMPRESSED : PLAIN;
        ResultCipher cipher = options.cipher();
        if (cipher != null && body.length <= options.maxResultBytes()) {
            body = cipher.encrypt(body, context);
            how |= ENCRYPTED;
        }
        if (body.length > options.maxResultBytes()) {
            return null;
        }
        return packed(how, body);
    }

    private static byte[] packed(int how, byte[] body) {
        return ByteBuffer.allocate(body.length + 1).put((byte) how).put(body).array();
    }

    private byte[] unpack(byte[] packed, byte[] context, String what) {
        int how = packed.length == 0 ? -1 : packed[0];
        if (how < PLAIN || how > (COMPRESSED | ENCRYPTED)) {
            throw new StoreException(
                    "The " + what + " of a command has a storage format that this version cannot read", null);
        }
        byte[] body = Arrays.copyOfRange(packed, 1, packed.length);
        boolean sealed = (how & ENCRYPTED) != 0;
        ResultCipher cipher = cipherFor(sealed, what);
        if (sealed && cipher != null) {
            body = cipher.decrypt(body, context);
        }
        return (how & COMPRESSED) == 0 ? body : inflate(body);
    }

    /**
     * The cipher for a stored value; null if there is none. A user with write access to the table can write clear text,
     * so a node with a cipher accepts only values that the cipher authenticates.
     */
    private @Nullable ResultCipher cipherFor(boolean sealed, String what) {
        ResultCipher cipher = options.cipher();
        if (sealed && cipher == null) {
            throw new StoreException(
                    "The " + what + " of a command is encrypted, but this node has no cipher: configure the one it was"
                            + " written with",
                    null);
        }
        if (!sealed && cipher != null && !options.acceptsClearText()) {
            throw new StoreException(
                    "The " + what
                            + " of a command is in clear text, but this node has a cipher. If it was written before"
                            + " the cipher was configured, use acceptingClearText() until such commands are purged",
                    null);
        }
        return cipher;
    }

    /** The kind of an encrypted value. A value of one kind cannot replace a value of another kind. */
    private enum EncryptedPart {
        RESULT(0),
        REASON(1),
        STEPS(2);

        /** Part of the authenticated context of stored bytes; must not change. */
        private final byte code;

        EncryptedPart(int code) {
            this.code = (byte) code;
        }
    }

    /** The row and its fence. The bytes cannot be decrypted in another row, or for a later run of the same command. */
    private static byte[] context(CommandOwner owner, EncryptedPart part) {
        byte[] id = owner.id().bytes();
        return ByteBuffer.allocate(1 + id.length + Long.BYTES)
                .put(part.code)
                .put(id)
                .putLong(owner.fence())
                .array();
    }

    private static byte[] stepsContext(CommandRecord row) {
        byte[] id = row.owner().id().bytes();
        return ByteBuffer.allocate(1 + id.length + 2 * Long.BYTES)
                .put(EncryptedPart.STEPS.code)
                .put(id)
                .putLong(row.reference().getMostSignificantBits())
                .putLong(row.reference().getLeastSignificantBits())
                .array();
    }

    private static byte[] deflate(byte[] plain) {
        Deflater deflater = new Deflater(Deflater.BEST_SPEED, true);
        try {
            deflater.setInput(plain);
            deflater.finish();
            byte[] buffer = new byte[plain.length];
            int length = deflater.deflate(buffer);
            return deflater.finished() ? Arrays.copyOf(buffer, length) : plain;
        } finally {
            deflater.end();
        }
    }

    private static byte[] inflate(byte[] compressed) {
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(compressed);
            ByteArrayOutputStream plain = new ByteArrayOutputStream(compressed.length * 4);
            byte[] buffer = new byte[8192];
            while (!inflater.finished() && plain.size() <= LARGEST) {
                int length = inflater.inflate(buffer);
                if (length == 0 && inflater.needsInput()) {
                    break;
                }
                plain.write(buffer, 0, length);
            }
            if (!inflater.finished()) {
                throw new StoreException("The result of a command is cut off", null);
            }
            return plain.toByteArray();
        } catch (DataFormatException e) {
            throw new StoreException("The result of a command is damaged", e);
        } finally {
            inflater.end();
        }
    }
}
