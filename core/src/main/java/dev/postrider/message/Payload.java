package dev.postrider.message;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidMessageException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;

/**
 * The body of a message: bytes and their content type. Postrider stores and sends exactly these bytes and does not
 * interpret them. The array is not copied, neither in nor out, and must not be changed. Immutable and thread-safe
 * under this rule. Factory methods throw {@link InvalidMessageException} for missing or invalid input.
 */
public final class Payload {

    /** The content type of {@link #json}. */
    public static final String JSON = "application/json";

    /** The content type of {@link #text}. */
    public static final String TEXT = "text/plain; charset=utf-8";

    /** A content type for bytes of unknown format. */
    public static final String BINARY = "application/octet-stream";

    private final byte[] bytes;
    private final String contentType;

    private Payload(byte[] bytes, String contentType) {
        this.bytes = bytes;
        this.contentType = contentType;
    }

    /**
     * Returns a payload of these bytes. The array is not copied.
     *
     * @param contentType a media type of 1 to 100 characters
     */
    public static Payload of(byte[] bytes, String contentType) {
        if (bytes == null) {
            throw new InvalidMessageException("payload", "is missing: use an empty array for an empty payload");
        }
        return new Payload(bytes, Text.required("content type", contentType, 100));
    }

    /** Returns the JSON text as UTF-8. The text is not validated. */
    public static Payload json(String json) {
        return new Payload(encode(json), JSON);
    }

    /** Returns the text as UTF-8, with the content type {@value #TEXT}. */
    public static Payload text(String text) {
        return new Payload(encode(text), TEXT);
    }

    /** Returns the bytes. The array is not a copy and must not be changed. */
    public byte[] bytes() {
        return bytes;
    }

    /** Returns the content type. */
    public String contentType() {
        return contentType;
    }

    /** Returns the number of bytes. */
    public int size() {
        return bytes.length;
    }

    /** Returns the bytes decoded as UTF-8. Invalid bytes become replacement characters. */
    public String asText() {
        return new String(bytes, UTF_8);
    }

    /** Rejects an unpaired surrogate, which {@link String#getBytes} would replace by a question mark. */
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

    /** Returns the size and the content type. The content must not appear in logs. */
    @Override
    public String toString() {
        return bytes.length + " bytes of " + contentType;
    }
}
