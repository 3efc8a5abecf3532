package dev.postrider.servlet;

import dev.postrider.idempotency.http.AnswerBuffer;
import dev.postrider.idempotency.http.HttpAnswer;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A response whose headers go to the container, which does not send them yet, and whose body stays here. Whatever would commit it
 * waits for the record. For one thread.
 */
final class CapturedResponse extends HttpServletResponseWrapper {

    private final HttpServletResponse response;
    private final AnswerBuffer buffer;
    private final OutputStream body;
    private @Nullable ServletOutputStream out;
    private @Nullable PrintWriter writer;
    private boolean error;
    private @Nullable String errorMessage;

    CapturedResponse(HttpServletResponse response, AnswerBuffer buffer) {
        super(HiddenResponse.of(response));
        this.response = response;
        this.buffer = buffer;
        this.body = buffer.body();
    }

    HttpAnswer answer() {
        if (writer != null) {
            writer.flush();
        }
        Map<String, List<String>> headers = Headers.of(response);
        return buffer.toAnswer(getStatus(), headers);
    }

    boolean isError() {
        return error;
    }

    @Nullable
    String errorMessage() {
        return errorMessage;
    }

    @Override
    public ServletOutputStream getOutputStream() {
        if (writer != null) {
            throw new IllegalStateException("getWriter was called");
        }
        if (out == null) {
            out = new CapturedStream(body);
        }
        return out;
    }

    @Override
    public PrintWriter getWriter() {
        if (out != null) {
            throw new IllegalStateException("getOutputStream was called");
        }
        if (writer == null) {
            Charset charset = Charset.forName(getCharacterEncoding());
            // as the container does it: from here on, the encoding is part of the content type
            setCharacterEncoding(charset.name());
            writer = new PrintWriter(new OutputStreamWriter(body, charset));
        }
        return writer;
    }

    @Override
    public void flushBuffer() {
        // nothing leaves before the record is committed
    }

    @Override
    public void resetBuffer() {
        if (writer != null) {
            writer.flush();
        }
        buffer.clear();
    }

    @Override
    public void reset() {
        resetBuffer();
        super.reset();
        out = null;
        writer = null;
        error = false;
        errorMessage = null;
    }

    @Override
    public void sendError(int status) {
        sendError(status, null);
    }

    @Override
    public void sendError(int status, @Nullable String message) {
        resetBuffer();
        setStatus(status);
        error = true;
        errorMessage = message;
    }

    @Override
    public void sendRedirect(String location) {
        sendRedirect(location, SC_FOUND, true);
    }

    /** Overrides a method that Servlet 6.1 has and 6.0 has not, and that would send the response at once. */
    @SuppressWarnings("MissingOverride")
    public void sendRedirect(String location, int status, boolean clearBuffer) {
        if (clearBuffer) {
            resetBuffer();
        }
        setStatus(status);
        setHeader("Location", location);
    }

    @Override
    public void setContentLength(int length) {
        // counted when the answer is sent
    }

    @Override
    public void setContentLengthLong(long length) {
        // counted when the answer is sent
    }

    @Override
    public void setBufferSize(int size) {
        // it has the size that it needs
    }

    private static final class CapturedStream extends ServletOutputStream {

        private final OutputStream body;

        CapturedStream(OutputStream body) {
            this.body = body;
        }

        @Override
        public void write(int b) throws IOException {
            body.write(b);
        }

        @Override
        public void write(byte[] source, int from, int length) throws IOException {
            body.write(source, from, length);
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            throw new IllegalStateException(
                    "The answer to a request with an idempotency key cannot be written asynchronously: write it to the stream");
        }
    }
}
