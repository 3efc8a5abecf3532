package dev.postrider.idempotency.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;

/**
 * Holds the body of an answer until its record is committed; only then may the first byte leave. Bounded: whoever writes more
 * than an endpoint allows gets an {@link IOException}, and so does whoever swallowed that, at the end. Not thread-safe.
 */
public final class AnswerBuffer {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int limit;
    private boolean overflown;

    AnswerBuffer(int limit) {
        this.limit = limit;
    }

    /** Where the body goes. Closing it does nothing. */
    public OutputStream body() {
        return new OutputStream() {
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
        };
    }

    private void makeRoom(int length) throws IOException {
        if (overflown || length > limit - bytes.size()) {
            overflown = true;
            throw new IOException("The answer has more than " + limit
                    + " bytes, and an answer to a request with an idempotency key is kept whole in memory until its record is"
                    + " committed: answer with a link instead, or raise largestAnswer");
        }
    }

    /** Forgets what was written. */
    public void clear() {
        bytes.reset();
        overflown = false;
    }

    /**
     * Ends a request whose handler was told that it wrote too much: call it with every exception of a handler, before passing
     * that on.
     *
     * @throws RuntimeException that {@link KeyedEndpoint} turns into an answer
     */
    public void refuseOverflow() {
        if (overflown) {
            throw new UnkeptException(Problem.ANSWER_NOT_RECORDABLE);
        }
    }

    public HttpAnswer toAnswer(int status, Map<String, List<String>> headers) {
        refuseOverflow();
        return HttpAnswer.of(status, headers, bytes.toByteArray());
    }
}
