package dev.postrider.store;

import java.security.MessageDigest;
import java.util.Arrays;

/** The hash of a request, and the way it was made. Two of different versions cannot be compared. Immutable. */
public final class CommandPrint {

    private final int version;
    private final byte[] hash;

    public CommandPrint(int version, byte[] hash) {
        this.version = version;
        this.hash = hash.clone();
    }

    public int version() {
        return version;
    }

    /** A copy. */
    public byte[] bytes() {
        return hash.clone();
    }

    /** Takes the same time wherever the first difference is. */
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
