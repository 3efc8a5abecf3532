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
 * Keeps status, body, and the headers that may be replayed; never one that is not on the list, such as a cookie. Thread-safe.
 *
 * <p>Version, flags, status (2 bytes), number of header lines (2 bytes), each line as name and value, body; texts and the body
 * with their length in 4 bytes.
 */
final class AnswerCodec implements ResultCodec<HttpAnswer> {

    private static final int VERSION = 1;
    private static final int OMITTED = 1;

    private final Set<String> kept;

    /** @param kept names, compared in any case by this set itself */
    AnswerCodec(Set<String> kept) {
        this.kept = kept;
    }

    @Override
    public String name() {
        return "http-response";
    }

    @Override
    public byte[] encode(HttpAnswer answer) {
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

    private void writeHeaders(DataOutputStream out, HttpAnswer answer) throws IOException {
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
    public HttpAnswer decode(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int version = in.readUnsignedByte();
            if (version != VERSION) {
                throw new IllegalArgumentException(
                        "A kept answer of version " + version + ", which this release cannot read");
            }
            boolean omitted = (in.readUnsignedByte() & OMITTED) != 0;
            int status = in.readUnsignedShort();
            Map<String, List<String>> headers = readHeaders(in);
            byte[] body = read(in);
            if (in.available() > 0) {
                throw new IllegalArgumentException("A kept answer with more bytes than it should have");
            }
            return new HttpAnswer(status, headers, body, omitted, HttpAnswer.Keeping.BY_STATUS);
        } catch (IOException e) {
            throw new IllegalArgumentException("A kept answer that is cut off", e);
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

    @Override
    public HttpAnswer shortened(HttpAnswer answer) {
        return answer.withoutBody();
    }
}
