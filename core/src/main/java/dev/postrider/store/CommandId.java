package dev.postrider.store;

import java.util.Arrays;
import java.util.HexFormat;

/** What a command's row is found by: 32 bytes, equal when they are. Immutable. */
public final class CommandId {

    private static final int LENGTH = 32;

    private final byte[] hash;

    /** @param hash the SHA-256 of all that tells one command from another */
    public CommandId(byte[] hash) {
        if (hash.length != LENGTH) {
            throw new IllegalArgumentException("A command's id has " + LENGTH + " bytes, not " + hash.length);
        }
        this.hash = hash.clone();
    }

    /** A copy. */
    public byte[] bytes() {
        return hash.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CommandId id && Arrays.equals(hash, id.hash);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(hash);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(hash, 0, 8);
    }
}
