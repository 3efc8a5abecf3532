package dev.postrider.idempotency.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.idempotency.ResultCodec;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Stores status, body and the headers that may be replayed. Headers that are not in the list, such as cookies, are
 * never stored. Thread-safe.
 *
 * <p>The format: version, flags, status (2 bytes), number of header lines (2 bytes), each line as name and value, body.
 * The length precedes texts and the body, in 4 bytes.
 */
final class ResponseCodec implements ResultCodec<KeyedResponse> {

    private static final int VERSION = 1;
    private static final int OMITTED = 1;

    private final Set<String> kept;

    /** @param kept the names of stored headers; the set itself must compare them case-insensitively */
    ResponseCodec(Set<String> kept) {
        this.kept = kept;
    }

    @Override
    public String name() {
        return "http-response";
    }

    @Override
    public byte[] encode(KeyedResponse answer) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeByte(answer.isOmitted() ? OMITTED : 0);
            out.writeShort(answer.status());
            writeHeaders(out, answer);
            write(out, answer.sharedBody());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private void writeHeaders(DataOutputStream out, KeyedResponse answer) throws IOException {
        List<Map.Entry<String, String>> lines = new ArrayList<>();
        answer.headers().forEach((name, values) -> {
            if (kept.contains(name)) {
                values.forEach(value -> lines.add(Map.entry(name, value)));
            }
        });
        out.writeShort(lines.size());
        for (Map.Entry<String, String> line : lines) {
            write(out, line.getKey().getBytes(UTF_8));
            write(out, line.getValue().getBytes(UTF_8));
        }
    }

    private static void write(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    @Override
    public KeyedResponse decode(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int version = in.readUnsignedByte();
            if (version != VERSION) {
                throw new IllegalArgumentException(
                        "The stored response has version " + version + ", which this release cannot read");
            }
            boolean omitted = (in.readUnsignedByte() & OMITTED) != 0;
            int status = in.readUnsignedShort();
            Map<String, List<String>> headers = readHeaders(in);
            byte[] body = read(in);
            if (in.available() > 0) {
                throw new IllegalArgumentException("The stored response has unexpected bytes at its end");
            }
            return new KeyedResponse(status, headers, body, omitted, KeyedResponse.Keeping.BY_STATUS);
        } catch (IOException e) {
            throw new IllegalArgumentException("The stored response is truncated", e);
        }
    }

    private static Map<String, List<String>> readHeaders(DataInputStream in) throws IOException {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            String name = new String(read(in), UTF_8);
            headers.computeIfAbsent(name, absent -> new ArrayList<>()).add(new String(read(in), UTF_8));
        }
        return HeaderMap.copyOf(headers);
    }

    private static byte[] read(DataInputStream in) throws IOException {
        int length = in.readInt();
        byte[] bytes = in.readNBytes(Math.max(length, 0));
        if (bytes.length != length) {
            throw new IOException("expected " + length + " bytes");
        }
        return bytes;
    }

    /** Omits the body, and then the headers too: the status alone says whether the request succeeded. */
    @Override
    public KeyedResponse shortened(KeyedResponse answer) {
        return answer.isOmitted()
                ? new KeyedResponse(answer.status(), Map.of(), new byte[0], true, answer.keeping())
                : answer.withoutBody();
    }
}
