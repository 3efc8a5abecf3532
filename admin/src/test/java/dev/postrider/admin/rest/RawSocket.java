package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.regex.Pattern;

/** Sends bytes that no client library would send. */
final class RawSocket {

    private static final int PATIENCE_MILLIS = 20_000;
    private static final Pattern STATUS_LINE = Pattern.compile("HTTP/1\\.[01] (\\d{3}) ");

    private RawSocket() {}

    /** What a server sent until it closed the connection. */
    record Received(String text) {

        /** The status of each response. */
        List<Integer> statuses() {
            return STATUS_LINE
                    .matcher(text)
                    .results()
                    .map(line -> Integer.valueOf(line.group(1)))
                    .toList();
        }
    }

    /** Fails if the server keeps the connection open. */
    static Received send(int port, String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.getOutputStream().write(request.getBytes(ISO_8859_1));
            socket.getOutputStream().flush();
            return new Received(read(socket.getInputStream()));
        }
    }

    /** Bytes that a server has not read when it closes make a reset, after the response. */
    private static String read(InputStream in) throws IOException {
        StringBuilder text = new StringBuilder();
        byte[] buffer = new byte[8192];
        try {
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                text.append(new String(buffer, 0, count, ISO_8859_1));
            }
        } catch (SocketException e) {
            text.append("\n[reset]");
        }
        return text.toString();
    }
}
