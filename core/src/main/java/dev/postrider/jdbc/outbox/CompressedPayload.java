package dev.postrider.jdbc.outbox;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * A payload as it is stored when its topic asks for compression: the number of its bytes, in four bytes with the lowest first, and
 * then a zlib stream (RFC 1950). {@code COMPRESS} and {@code UNCOMPRESS} of MySQL and MariaDB have the same format, so that their console
 * shows the payload. The attributes of the row say that it is compressed. Immutable.
 */
final class CompressedPayload {

    /** The name of the format in the attributes of a row. */
    static final String FORMAT = "zlib";

    private static final int PREFIX = PackedPayload.PREFIX;

    private final byte[] bytes;

    private CompressedPayload(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Compresses a payload.
     *
     * @param above the size above which a payload is compressed; 0 for never
     * @return null if the payload is not larger than that, or compression does not make it smaller
     */
    static @Nullable CompressedPayload of(byte[] payload, int above) {
        if (above == 0 || payload.length <= above || payload.length <= PREFIX + 1) {
            return null;
        }
        byte[] smaller = new byte[payload.length - 1];
        Deflater deflater = new Deflater(Deflater.BEST_SPEED);
        try {
            deflater.setInput(payload);
            deflater.finish();
            int length = PREFIX + deflater.deflate(smaller, PREFIX, smaller.length - PREFIX);
            if (!deflater.finished()) {
                return null;
            }
            ByteBuffer.wrap(smaller).order(ByteOrder.LITTLE_ENDIAN).putInt(payload.length);
            return new CompressedPayload(Arrays.copyOf(smaller, length));
        } finally {
            deflater.end();
        }
    }

    /** The bytes of the column. */
    byte[] bytes() {
        return bytes;
    }

    /**
     * Returns the payload of a compressed column. It never needs more memory than the limit, whatever the column has.
     *
     * @throws IllegalArgumentException if the bytes are not a compressed payload, or the payload is larger than the limit
     */
    static byte[] decompress(byte[] column, int maxPayloadBytes) {
        int size = column.length < PREFIX
                ? 0
                : ByteBuffer.wrap(column).order(ByteOrder.LITTLE_ENDIAN).getInt();
        if (size <= column.length) { // no writer stores such a payload compressed
            throw new IllegalArgumentException("the compressed payload is damaged: it is not smaller than the payload");
        }
        if (size > maxPayloadBytes) {
            throw new IllegalArgumentException("the payload has " + size
                    + " bytes when decompressed, and max-payload-bytes is " + maxPayloadBytes + " on this node");
        }
        Inflater inflater = new Inflater();
        try {
            inflater.setInput(column, PREFIX, column.length - PREFIX);
            byte[] payload = new byte[size];
            int length = inflater.inflate(payload);
            int more = inflater.finished() ? 0 : inflater.inflate(new byte[1]); // reads the checksum
            if (length != size || more != 0 || !inflater.finished()) {
                throw new IllegalArgumentException(
                        "the compressed payload is damaged: it does not have " + size + " bytes");
            }
            return payload;
        } catch (DataFormatException e) {
            throw new IllegalArgumentException("the compressed payload is damaged: " + e.getMessage(), e);
        } finally {
            inflater.end();
        }
    }
}
