package dev.postrider.servlet;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.Part;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UnsupportedEncodingException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request whose body is read into memory, so that each instance can read it once more. For one thread. */
final class CachedRequest extends HttpServletRequestWrapper {

    static final String ASYNC =
            "A request with an idempotency key cannot be asynchronous: its response is recorded in the"
                    + " transaction of the call that handles it. Write the response before the call returns";

    private final byte[] body;
    private final Runnable beforeForward;
    private final ServletInputStream in;
    private @Nullable BufferedReader reader;
    private @Nullable Map<String, String[]> parameters;

    /**
     * @param beforeForward clears the captured response; not every container clears a wrapped response before a forward
     */
    CachedRequest(HttpServletRequest request, byte[] body, Runnable beforeForward) {
        super(request);
        this.body = body;
        this.beforeForward = beforeForward;
        this.in = new CachedStream(body);
    }

    @Override
    public ServletInputStream getInputStream() {
        return in;
    }

    @Override
    public BufferedReader getReader() throws UnsupportedEncodingException {
        if (reader == null) {
            String encoding = getCharacterEncoding();
            reader = new BufferedReader(new InputStreamReader(in, encoding == null ? ISO_8859_1.name() : encoding));
        }
        return reader;
    }

    /**
     * The parameters. The body of a form is already read when the container parses it, so this class parses its
     * parameters.
     */
    @Override
    public Map<String, String[]> getParameterMap() {
        if (parameters == null) {
            parameters = RequestBody.isForm(getContentType()) ? withForm() : super.getParameterMap();
        }
        return parameters;
    }

    private Map<String, String[]> withForm() {
        Map<String, List<String>> all = new LinkedHashMap<>(Form.ofQuery(getQueryString()));
        Form.ofBody(new String(body, ISO_8859_1), this)
                .forEach((name, values) ->
                        all.computeIfAbsent(name, absent -> new ArrayList<>()).addAll(values));
        Map<String, String[]> merged = new LinkedHashMap<>();
        all.forEach((name, values) -> merged.put(name, values.toArray(String[]::new)));
        return Collections.unmodifiableMap(merged);
    }

    @Override
    public @Nullable String getParameter(String name) {
        String[] values = getParameterMap().get(name);
        return values == null ? null : values[0];
    }

    @Override
    public String @Nullable [] getParameterValues(String name) {
        String[] values = getParameterMap().get(name);
        return values == null ? null : Arrays.copyOf(values, values.length);
    }

    @Override
    public Enumeration<String> getParameterNames() {
        return Collections.enumeration(getParameterMap().keySet());
    }

    @Override
    public Collection<Part> getParts() throws ServletException {
        throw multipart();
    }

    @Override
    public Part getPart(String name) throws ServletException {
        throw multipart();
    }

    private static ServletException multipart() {
        return new ServletException(
                "A request with an idempotency key cannot be multipart: upload first, and send a reference");
    }

    @Override
    public boolean isAsyncSupported() {
        return false;
    }

    @Override
    public AsyncContext startAsync() {
        throw new IllegalStateException(ASYNC);
    }

    @Override
    public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
        throw new IllegalStateException(ASYNC);
    }

    @Override
    public @Nullable RequestDispatcher getRequestDispatcher(String path) {
        RequestDispatcher dispatcher = super.getRequestDispatcher(path);
        return dispatcher == null ? null : new ForgetfulDispatcher(dispatcher, beforeForward);
    }

    /** Clears the captured response before a forward. */
    private record ForgetfulDispatcher(RequestDispatcher dispatcher, Runnable beforeForward)
            implements RequestDispatcher {

        @Override
        public void forward(ServletRequest request, ServletResponse response) throws ServletException, IOException {
            beforeForward.run();
            dispatcher.forward(request, response);
        }

        @Override
        public void include(ServletRequest request, ServletResponse response) throws ServletException, IOException {
            dispatcher.include(request, response);
        }
    }

    private static final class CachedStream extends ServletInputStream {

        private final ByteArrayInputStream bytes;

        CachedStream(byte[] body) {
            this.bytes = new ByteArrayInputStream(body);
        }

        @Override
        public int read() {
            return bytes.read();
        }

        @Override
        public int read(byte[] target, int from, int length) {
            return bytes.read(target, from, length);
        }

        @Override
        public int available() {
            return bytes.available();
        }

        @Override
        public boolean isFinished() {
            return bytes.available() == 0;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new IllegalStateException(ASYNC);
        }
    }
}
