package dev.postrider.torture;

import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** Delivers messages to the receiver over reused connections: one line per request, one line per answer. Thread-safe. */
final class Courier implements Transport {

    private static final int CONNECT_MILLIS = 500;
    private static final int ANSWER_MILLIS = 2500;

    private final String worker;
    private final int port;
    private final Pace pace;
    private final Journal journal;
    private final Queue<Line> idle = new ConcurrentLinkedQueue<>();
    private final Executor threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "courier");
        thread.setDaemon(true);
        return thread;
    });

    Courier(String worker, int port, Pace pace, Journal journal) {
        this.worker = worker;
        this.port = port;
        this.pace = pace;
        this.journal = journal;
    }

    /** A connection to the receiver. */
    private record Line(Socket socket, BufferedReader answers) {}

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        return deliver(delivery, System.nanoTime());
    }

    /** @param begin the time at which the node started to wait for the result */
    CompletionStage<DeliveryResult> deliver(Delivery delivery, long begin) {
        return CompletableFuture.supplyAsync(() -> send(Request.of(worker, delivery), begin), threads);
    }

    @Override
    public Duration timeout() {
        return pace.delivery();
    }

    private DeliveryResult send(Request request, long begin) {
        // Written before the request is sent, whatever its result. Transports do not get the lease token.
        journal.write(
                "sending",
                "id",
                request.id(),
                "key",
                request.key(),
                "number",
                request.number(),
                "attempt",
                request.attempt(),
                "token",
                null);
        try {
            String answer = ask(request);
            if (System.nanoTime() - begin >= timeout().toNanos()) {
                unheard(request); // the node's timeout passed before the answer came
            }
            return switch (answer) {
                case "ok" -> DeliveryResult.delivered();
                case "poison" -> DeliveryResult.rejected("poison");
                default -> DeliveryResult.failed("refused");
            };
        } catch (IOException e) {
            return DeliveryResult.failed(e.toString());
        }
    }

    /** Records that the answer came too late or not at all: the message has to be sent again. */
    private void unheard(Request request) {
        journal.write("unheard", "id", request.id(), "worker", worker, "attempt", request.attempt());
    }

    private String ask(Request request) throws IOException {
        Line kept = idle.poll();
        Line line = kept != null ? kept : connect();
        try {
            line.socket().getOutputStream().write((request.toLine() + "\n").getBytes(StandardCharsets.UTF_8));
            String answer = line.answers().readLine();
            if (answer == null) {
                throw new EOFException("the receiver hung up");
            }
            idle.add(line);
            return answer;
        } catch (IOException e) {
            line.socket().close();
            if (e instanceof SocketTimeoutException) {
                unheard(request);
            }
            throw e;
        }
    }

    private Line connect() throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MILLIS);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(ANSWER_MILLIS);
            return new Line(
                    socket, new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8)));
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }
}
