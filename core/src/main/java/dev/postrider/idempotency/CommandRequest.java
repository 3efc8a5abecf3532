package dev.postrider.idempotency;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.internal.store.CommandClaim;
import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandPrint;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A command with the values that are computed from it once: its id and its fingerprint, before the work can change the
 * request.
 *
 * @param request the input of the fingerprint
 */
record CommandRequest<R>(Command<R> command, CommandId id, CommandPrint print, Fingerprint request) {

    private static final int ABSENT = -1;
    private static final int LONGEST_PREFIX = 8;

    /** The bytes of a request, private so that no other code changes them. */
    static final class Fingerprint {

        private final byte[] bytes;
        private final Fingerprints fingerprints;

        private Fingerprint(byte[] bytes, Fingerprints fingerprints) {
            this.bytes = bytes;
            this.fingerprints = fingerprints;
        }
    }

    static <R> CommandRequest<R> of(Command<R> command, Fingerprints fingerprints) {
        byte[] bytes = command.fingerprint();
        return new CommandRequest<>(
                command, id(command.identity()), fingerprints.of(bytes), new Fingerprint(bytes, fingerprints));
    }

    /** Whether a stored row belongs to the same request. */
    boolean isSameAs(CommandPrint stored) {
        return request.fingerprints.matches(stored, request.bytes);
    }

    /**
     * Hashes the fields of the identity. The length precedes each field, and an absent field has a length of its own,
     * so two different identities have different input.
     */
    static CommandId id(Command.Identity identity) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            field(sha256, identity.tenant());
            field(sha256, identity.caller());
            field(sha256, identity.operation());
            field(sha256, identity.key());
            return new CommandId(sha256.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    private static void field(MessageDigest digest, @Nullable String text) {
        byte[] bytes = text == null ? new byte[0] : text.getBytes(UTF_8);
        digest.update(ByteBuffer.allocate(Integer.BYTES)
                .putInt(text == null ? ABSENT : bytes.length)
                .flip());
        digest.update(bytes);
    }

    /** Makes a claim with a new lease token. */
    CommandClaim claim(boolean uncertainIfLost, Supplier<UUID> ids) {
        Command.Identity identity = command.identity();
        return new CommandClaim(
                id,
                new CommandClaim.Names(
                        identity.operation(), identity.tenant(), identity.caller(), prefix(identity.key())),
                print,
                ids.get(),
                ids.get(),
                command.options().lease(),
                command.options().keyKept(),
                uncertainIfLost);
    }

    /** A prefix of the key for operators: long enough to distinguish keys, too short to use the key. */
    private static String prefix(String key) {
        int end = Math.min(LONGEST_PREFIX, key.length() / 3);
        boolean cutsPair = end > 0 && Character.isHighSurrogate(key.charAt(end - 1));
        return key.substring(0, cutsPair ? end - 1 : end);
    }
}
