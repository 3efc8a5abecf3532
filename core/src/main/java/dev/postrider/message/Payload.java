package dev.postrider.message;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidMessageException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;

/**
 * The body of a message: bytes and their content type. Postrider stores and sends exactly these bytes and never looks into
 * them. The array is not copied, neither in nor out: it belongs to the payload and must not be changed. Immutable under that
 * rule.
 */
public final class Payload {

    public static final String JSON = "application/json";
    public static final String TEXT = "text/plain; charset=utf-8";
    public static final String BINARY = "application/octet-stream";

    private final byte[] bytes;
    private final String contentType;

    private Payload(byte[] bytes, String contentType) {
        this.bytes = bytes;
        this.contentType = contentType;
    }

    public static Payload of(byte[] bytes, String contentType) {
        if (bytes == null) {
            throw new InvalidMessageException("payload", "is missing: an empty array stands for an empty one");
        }
        return new Payload(bytes, Text.required("content type", contentType, 100));
    }

    /** The given JSON text, as UTF-8; whether it is valid JSON is the caller's business. */
    public static Payload json(String json) {
        return new Payload(encode(json), JSON);
    }

    public static Payload text(String text) {
        return new Payload(encode(text), TEXT);
    }

    public byte[] bytes() {
        return bytes;
    }

    public String contentType() {
        return contentType;
    }

    public int size() {
        return bytes.length;
    }

    /** The bytes read as UTF-8; bytes that are none become replacement characters. */
    public String asText() {
        return new String(bytes, UTF_8);
    }

    /** Unlike {@link String#getBytes}, refuses half a surrogate pair instead of sending a question mark in its place. */
    private static byte[] encode(String text) {
        if (text == null) {
            throw new InvalidMessageException("payload", "is missing");
        }
        try {
            ByteBuffer encoded = UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            return bytes;
        } catch (CharacterCodingException e) {
            throw new InvalidMessageException("payload", "holds half of a surrogate pair, which UTF-8 cannot carry");
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Payload that
                && contentType.equals(that.contentType)
                && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(bytes) + contentType.hashCode();
    }

    /** Says the size and the type, never the content: payloads do not belong in logs. */
    @Override
    public String toString() {
        return bytes.length + " bytes of " + contentType;
    }
}
