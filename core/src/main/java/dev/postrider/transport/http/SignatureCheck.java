package dev.postrider.transport.http;

/** Verifies signatures with the receiver's part of a key. Implementations are immutable. */
interface SignatureCheck {

    /**
     * Returns whether this one signature, with its version, matches the content. The time does not depend on the
     * position of a difference.
     */
    boolean accepts(String signature, byte[] content);
}
