package dev.postrider.transport.http;

/** The receiver's half of a key. Implementations are immutable. */
interface SignatureCheck {

    /** Whether this one signature, with its version, is that of the content. Takes the same time wherever it differs. */
    boolean accepts(String signature, byte[] content);
}
