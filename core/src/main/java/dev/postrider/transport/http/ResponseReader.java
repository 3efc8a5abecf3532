package dev.postrider.transport.http;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Reads a response: its status and headers, the start of its body, and a bounded part of the rest. The rest is read
 * only so that the connection can be reused. Thread-safe: a deadline may read it while the client still writes.
 */
final class ResponseReader
        implements HttpResponse.BodyHandler<@Nullable Void>, HttpResponse.BodySubscriber<@Nullable Void> {

    static final int READ_LIMIT = 64 * 1024;
    private static final int KEEP_LIMIT = 2 * 1024;

    record Head(int status, HttpHeaders headers) {

        boolean isFinal() {
            return status >= 200;
        }
    }

    private final CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private @Nullable Head head;
    private Flow.@Nullable Subscription subscription;
    private int read;

    @Override
    public synchronized HttpResponse.BodySubscriber<@Nullable Void> apply(HttpResponse.ResponseInfo info) {
        head = new Head(info.statusCode(), info.headers());
        return this;
    }

    synchronized @Nullable Head head() {
        return head;
    }

    synchronized String excerpt() {
        return kept.toString(StandardCharsets.UTF_8);
    }

    @Override
    public CompletionStage<@Nullable Void> getBody() {
        return end;
    }

    @Override
    public synchronized void onSubscribe(Flow.Subscription subscription) {
        this.subscription = subscription;
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        if (isEnough(buffers)) {
            end.complete(null);
        }
    }

    private synchronized boolean isEnough(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            read = Math.min(READ_LIMIT, read + Math.min(READ_LIMIT, buffer.remaining()));
            byte[] some = new byte[Math.min(buffer.remaining(), KEEP_LIMIT - kept.size())];
            buffer.get(some);
            kept.writeBytes(some);
        }
        if (read < READ_LIMIT) {
            return false;
        }
        if (subscription != null) {
            subscription.cancel();
        }
        return true;
    }

    @Override
    public void onError(Throwable error) {
        end.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        end.complete(null);
    }
}
