package dev.postrider.internal.store;

import java.util.Arrays;
import java.util.HexFormat;

/** The primary key of a command: a hash of 32 bytes. Two ids are equal if their bytes are equal. Immutable. */
public final class CommandId {

    private static final int LENGTH = 32;

    private final byte[] hash;

    /**
     * Creates an id.
     *
     * @param hash the SHA-256 of everything that identifies the command
     * @throws IllegalArgumentException when the hash does not have 32 bytes
     */
    public CommandId(byte[] hash) {
        if (hash.length != LENGTH) {
            throw new IllegalArgumentException("A command's id has " + LENGTH + " bytes, not " + hash.length);
        }
        this.hash = hash.clone();
    }

    /** Returns a copy of the bytes. */
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
