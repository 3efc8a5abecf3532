package dev.postrider.idempotency.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;

/**
 * Buffers the body of a response until its record is committed. Before that, no byte may be sent. The size is bounded:
 * a write beyond the limit throws an {@link IOException}. If the handler ignores that exception, {@link #toAnswer}
 * refuses the response. Not thread-safe.
 */
public final class ResponseBuffer {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int limit;
    private boolean overflown;

    ResponseBuffer(int limit) {
        this.limit = limit;
    }

    /** A stream for the body. After it is closed, writes are refused, because they would never be sent. */
    public OutputStream body() {
        return new OutputStream() {

            private boolean closed;

            @Override
            public void write(int b) throws IOException {
                makeRoom(1);
                bytes.write(b);
            }

            @Override
            public void write(byte[] source, int from, int length) throws IOException {
                makeRoom(length);
                bytes.write(source, from, length);
            }

            private void makeRoom(int length) throws IOException {
                if (closed) {
                    throw new IOException("The response was closed: write the whole body before");
                }
                ResponseBuffer.this.makeRoom(length);
            }

            @Override
            public void close() {
                closed = true;
            }
        };
    }

    int size() {
        return bytes.size();
    }

    private void makeRoom(int length) throws IOException {
        if (overflown || length > limit - bytes.size()) {
            overflown = true;
            throw new IOException("The response has more than " + limit
                    + " bytes, and the response to a request with an idempotency key stays in memory until its record"
                    + " is committed: send a link instead, or raise largestAnswer");
        }
    }

    /** Removes all bytes. */
    public void clear() {
        bytes.reset();
        overflown = false;
    }

    /**
     * Refuses the response of a handler that wrote more than the limit. Call it for every exception of a handler,
     * before that exception is rethrown.
     *
     * @throws RuntimeException when the limit was exceeded; {@link KeyedEndpoint} converts it to a response
     */
    public void refuseOverflow() {
        if (overflown) {
            throw new UnkeptException(HttpProblem.ANSWER_NOT_RECORDABLE);
        }
    }

    public KeyedResponse toAnswer(int status, Map<String, List<String>> headers) {
        refuseOverflow();
        return KeyedResponse.of(status, headers, bytes.toByteArray());
    }
}
