package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks what HTTP brings: sizes, framing, origin, media types, the body. Pure functions; only the body is read. */
final class RequestGuard {

    static final String WRITE_HEADER = "Postrider-Admin";

    private static final int LONGEST_URI = 16 * 1024;
    private static final int LARGEST_HEADERS = 16 * 1024;
    private static final int LARGEST_BODY = 256 * 1024;
    private static final int MOST_DROPPED = 4 * 1024 * 1024;

    private static final String JSON = "application/json";
    private static final String EVENTS = "text/event-stream";

    private static final Pattern LOOPBACK =
            Pattern.compile("(localhost|127(\\.\\d{1,3}){3}|\\[::1])(:\\d{1,5})?", Pattern.CASE_INSENSITIVE);

    private static final Pattern JSON_IN_UTF_8 =
            Pattern.compile("application/json(\\s*;\\s*charset\\s*=\\s*\"?utf-8\"?)?", Pattern.CASE_INSENSITIVE);

    /** Tells a server that the connection cannot be used any more: where the next request begins is not certain. */
    private static final Map<String, String> CLOSE = Map.of("Connection", "close");

    private RequestGuard() {}

    /** Checks what no client needs and what two programs could read differently. */
    static void checkFraming(AdminRequest request) {
        int uri = request.path().length()
                + (request.query() == null ? 0 : request.query().length());
        if (uri > LONGEST_URI) {
            throw ProblemType.URI_TOO_LONG
                    .because("A URI has at most " + LONGEST_URI
                            + " characters: send long filters in the body of an action")
                    .refusal();
        }
        long headers = 0;
        for (Map.Entry<String, List<String>> header : request.headers().entrySet()) {
            for (String line : header.getValue()) {
                headers += header.getKey().length() + line.length();
            }
        }
        if (headers > LARGEST_HEADERS) {
            throw ProblemType.HEADERS_TOO_LARGE
                    .because("All headers together have at most " + LARGEST_HEADERS + " characters")
                    .refusal();
        }
        boolean hasLength = !request.lines("Content-Length").isEmpty();
        boolean hasEncoding = !request.lines("Transfer-Encoding").isEmpty();
        boolean isRepeated = Stream.of("Content-Length", "Transfer-Encoding", "Host", "Content-Type")
                .anyMatch(name -> request.lines(name).size() > 1);
        if (isRepeated || (hasLength && hasEncoding)) {
            throw new Refusal(
                    ProblemType.BAD_INPUT.because(
                            "A request has one length or one transfer encoding, one host and one content type"),
                    CLOSE);
        }
    }

    /**
     * Checks that a request without an authenticator comes from this machine: to a loopback address, and under a loopback
     * name, because a page of another site can make its own name resolve to 127.0.0.1.
     */
    static void checkLocal(AdminRequest request) {
        String host = request.header("Host");
        if (!request.sender().isLocal()
                || host == null
                || !LOOPBACK.matcher(host).matches()) {
            throw ProblemType.HOST
                    .because(
                            "Send the request to localhost or 127.0.0.1 on this machine, or give the API an authenticator;"
                                    + " for the relay: admin.operator.<name>.token")
                    .refusal();
        }
    }

    /** Checks that no page of another site has sent the request. Browsers set the header, programs do not. */
    static void checkSite(AdminRequest request) {
        List<String> sites = request.lines("Sec-Fetch-Site");
        if (!sites.isEmpty() && !sites.equals(List.of("same-origin")) && !sites.equals(List.of("none"))) {
            throw crossSite("Sec-Fetch-Site must be same-origin or none");
        }
    }

    /** Checks what a page of another site cannot send without permission, which this server never gives. */
    static void checkWrite(AdminRequest request) {
        if (!"1".equals(request.header(WRITE_HEADER))) {
            throw crossSite("A request that changes something needs the header " + WRITE_HEADER + ": 1");
        }
        List<String> origins = request.lines("Origin");
        boolean isSameSite = request.lines("Sec-Fetch-Site").contains("same-origin");
        String host = request.header("Host");
        if (!origins.isEmpty() && !isSameSite) {
            String origin = origins.get(0).toLowerCase(Locale.ROOT);
            boolean isOwn = host != null
                    && origins.size() == 1
                    && Stream.of("http://", "https://")
                            .anyMatch(scheme -> origin.equals(scheme + host.toLowerCase(Locale.ROOT)));
            if (!isOwn) {
                throw crossSite("Origin must be that of this server");
            }
        }
    }

    private static Refusal crossSite(String detail) {
        return ProblemType.CROSS_SITE.because(detail).refusal();
    }

    /** @param isStream whether the answer is an event stream */
    static void checkAccepted(AdminRequest request, boolean isStream) {
        List<String> lines = request.lines("Accept");
        String wanted = isStream ? EVENTS : JSON;
        String group = wanted.substring(0, wanted.indexOf('/')) + "/*";
        boolean isAccepted = lines.isEmpty()
                || lines.stream()
                        .flatMap(line -> Stream.of(line.split(",")))
                        .map(range -> range.split(";", 2)[0].strip().toLowerCase(Locale.ROOT))
                        .anyMatch(range -> range.equals(wanted) || range.equals(group) || range.equals("*/*"));
        if (!isAccepted) {
            throw ProblemType.NOT_ACCEPTABLE
                    .because("The answer is " + wanted + ", which Accept does not allow")
                    .refusal();
        }
    }

    static void checkNoBody(AdminRequest request) {
        String length = request.header("Content-Length");
        boolean hasLength = length != null && !length.strip().equals("0");
        if (hasLength || !request.lines("Transfer-Encoding").isEmpty()) {
            throw new Refusal(ProblemType.BAD_INPUT.because("A GET has no body"), CLOSE);
        }
    }

    /** Reads the body as text. An empty one needs no content type. */
    static String body(AdminRequest request) throws IOException {
        if (!request.lines("Content-Encoding").isEmpty()) {
            throw mediaType("The body must not be compressed: leave Content-Encoding out");
        }
        @Nullable Long announced = announced(request);
        if (announced != null && announced > LARGEST_BODY) {
            throw tooLarge(request, announced);
        }
        byte[] bytes = request.body().readNBytes(LARGEST_BODY + 1);
        if (bytes.length > LARGEST_BODY) {
            throw tooLarge(request, bytes.length);
        }
        if (announced != null && bytes.length != announced) {
            throw new Refusal(
                    ProblemType.BAD_INPUT.because(
                            "The body ended after " + bytes.length + " of " + announced + " bytes"),
                    CLOSE);
        }
        String type = request.header("Content-Type");
        if ((bytes.length > 0 || type != null)
                && (type == null || !JSON_IN_UTF_8.matcher(type.strip()).matches())) {
            throw mediaType("The body must be " + JSON + " in UTF-8, and its Content-Type must say so");
        }
        try {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw ProblemType.BAD_INPUT.because("The body is not UTF-8").refusal();
        }
    }

    /**
     * Reads what a refused request has not read of its body. Otherwise a server closes the connection, unseen by a client that
     * is about to send its next request.
     */
    static void dropBody(AdminRequest request) throws IOException {
        drop(request, LARGEST_BODY);
    }

    private static void drop(AdminRequest request, int most) throws IOException {
        byte[] buffer = new byte[8192];
        int dropped = 0;
        int count = 0;
        while (count >= 0 && dropped < most) {
            dropped += count;
            count = request.body().read(buffer);
        }
    }

    private static @Nullable Long announced(AdminRequest request) {
        String length = request.header("Content-Length");
        if (length == null) {
            return null;
        }
        if (!length.strip().matches("[0-9]{1,18}")) {
            throw new Refusal(ProblemType.BAD_INPUT.because("Content-Length must be a decimal number"), CLOSE);
        }
        return Long.valueOf(length.strip());
    }

    private static Refusal mediaType(String detail) {
        return ProblemType.MEDIA_TYPE.because(detail).refusal();
    }

    /** Reads what the client is still sending, if that is not much more: otherwise it would lose the response. */
    private static Refusal tooLarge(AdminRequest request, long size) throws IOException {
        if (size <= MOST_DROPPED) {
            drop(request, MOST_DROPPED);
        }
        return new Refusal(ProblemType.TOO_LARGE.because("A body has at most " + LARGEST_BODY + " bytes"), CLOSE);
    }
}
