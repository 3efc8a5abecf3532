package dev.postrider.internal.store;

import java.security.MessageDigest;
import java.util.Arrays;

/**
 * The fingerprint of a request: its hash, and the version of the hash function. Fingerprints of different versions
 * are never equal and cannot be compared. Immutable.
 */
public final class CommandPrint {

    private final int version;
    private final byte[] hash;

    /** Creates a fingerprint. The array is copied. */
    public CommandPrint(int version, byte[] hash) {
        this.version = version;
        this.hash = hash.clone();
    }

    /** Returns the version of the hash function. */
    public int version() {
        return version;
    }

    /** Returns a copy of the hash. */
    public byte[] bytes() {
        return hash.clone();
    }

    /** Compares in constant time: the time does not depend on the position of the first difference. */
    @Override
    public boolean equals(Object other) {
        return other instanceof CommandPrint print
                && version == print.version
                && MessageDigest.isEqual(hash, print.hash);
    }

    @Override
    public int hashCode() {
        return 31 * version + Arrays.hashCode(hash);
    }

    @Override
    public String toString() {
        return "CommandPrint[version " + version + "]";
    }
}
