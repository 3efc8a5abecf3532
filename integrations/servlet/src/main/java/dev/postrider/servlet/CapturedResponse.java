package dev.postrider.servlet;

import dev.postrider.idempotency.http.KeyedResponse;
import dev.postrider.idempotency.http.ResponseBuffer;
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
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A response that captures the body in memory. Headers go to the container, which does not send them yet. No call
 * commits the response before its record is committed. For one thread.
 */
final class CapturedResponse extends HttpServletResponseWrapper {

    private static final Pattern CHARSET = Pattern.compile("\\s*;\\s*charset\\s*=[^;]*", Pattern.CASE_INSENSITIVE);

    private final HttpServletResponse response;
    private final ResponseBuffer buffer;
    private OutputStream body;
    private @Nullable ServletOutputStream out;
    private @Nullable PrintWriter writer;
    /** The charset of the writer. Later changes of the content type do not change it. */
    private @Nullable Charset written;

    private boolean error;
    private @Nullable String errorMessage;

    CapturedResponse(HttpServletResponse response, ResponseBuffer buffer) {
        super(HiddenResponse.of(response));
        this.response = response;
        this.buffer = buffer;
        this.body = buffer.body();
    }

    KeyedResponse answer() {
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
            // as in a container: from now on the encoding is part of the content type
            setCharacterEncoding(charset.name());
            writer = new PrintWriter(new OutputStreamWriter(body, charset));
            written = charset;
        }
        return writer;
    }

    @Override
    public void setCharacterEncoding(@Nullable String charset) {
        if (written == null) {
            super.setCharacterEncoding(charset);
        }
    }

    /** Overrides a method of Servlet 6.1 that does not exist in 6.0. */
    @SuppressWarnings("MissingOverride")
    public void setCharacterEncoding(@Nullable Charset charset) {
        setCharacterEncoding(charset == null ? null : charset.name());
    }

    @Override
    public void setContentType(@Nullable String type) {
        if (written == null || type == null) {
            super.setContentType(type);
        } else {
            super.setContentType(CHARSET.matcher(type).replaceAll("") + ";charset=" + written.name());
        }
    }

    /** Sets the Content-Language header, because some containers set it only when they send the response. */
    @Override
    public void setLocale(Locale locale) {
        super.setLocale(locale);
        if (written != null) {
            super.setCharacterEncoding(written.name());
        }
        setHeader("Content-Language", locale.toLanguageTag());
    }

    @Override
    public void setHeader(String name, @Nullable String value) {
        if (name.equalsIgnoreCase("Content-Type")) {
            setContentType(value);
        } else {
            super.setHeader(name, value);
        }
    }

    @Override
    public void addHeader(String name, @Nullable String value) {
        if (name.equalsIgnoreCase("Content-Type")) {
            setContentType(value);
        } else {
            super.addHeader(name, value);
        }
    }

    @Override
    public void flushBuffer() {
        // no byte is sent before the record is committed
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
        reopen();
        error = false;
        errorMessage = null;
    }

    /** Clears the response before a forward. The target of the forward can choose the stream or the writer again. */
    void forward() {
        resetBuffer();
        reopen();
    }

    private void reopen() {
        body = buffer.body();
        out = null;
        writer = null;
        written = null;
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

    /** Overrides a method of Servlet 6.1 that does not exist in 6.0, and that would send the response at once. */
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
        // the length is set when the response is sent
    }

    @Override
    public void setContentLengthLong(long length) {
        // the length is set when the response is sent
    }

    @Override
    public void setBufferSize(int size) {
        // the buffer grows as needed
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
        public void close() throws IOException {
            body.close();
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            throw new IllegalStateException(
                    "The response to a request with an idempotency key cannot be written asynchronously: use the stream");
        }
    }
}
