package dev.postrider.transport.http;

import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.PermanentFailureException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One delivery attempt: checks the route, sends the request and classifies the response, within one deadline. The
 * timeout of the HTTP client ends with the response headers. This deadline also ends a response whose body never
 * ends.
 */
final class Attempt {

    private final WebhookSettings settings;
    private final Route route;
    private final HttpClient client;
    private final ResponseReader answer = new ResponseReader();
    private @Nullable CompletableFuture<?> line;
    private boolean over;

    Attempt(WebhookSettings settings, Route route, HttpClient client) {
        this.settings = settings;
        this.route = route;
        this.client = client;
    }

    CompletionStage<DeliveryResult> run(Delivery delivery) {
        return route.open()
                .thenCompose(ready -> send(delivery))
                .orTimeout(settings.timeout.toMillis(), TimeUnit.MILLISECONDS)
                .handle((done, error) -> {
                    stop(error);
                    return outcome(error);
                });
    }

    /**
     * Sends nothing after the deadline, even if the DNS lookup was slow: another node may have claimed the message by
     * then.
     */
    private synchronized CompletableFuture<HttpResponse<@Nullable Void>> send(Delivery delivery) {
        if (over) {
            return CompletableFuture.failedFuture(new CancellationException());
        }
        HttpRequest request = new WebhookRequest(settings).of(delivery);
        CompletableFuture<HttpResponse<@Nullable Void>> sent = client.sendAsync(request, answer);
        // A future derived from the client's future stays open: cancelling it reaches the exchange even after a
        // failure.
        line = sent.newIncompleteFuture();
        return sent;
    }

    /**
     * Closes the connection unless the response ended normally. After a malformed response the client reports the
     * error and keeps the connection open for as long as the peer does. Cancelling closes it.
     */
    private synchronized void stop(@Nullable Throwable error) {
        over = true;
        ResponseReader.Head head = answer.head();
        boolean orderly = error == null && head != null && head.isFinal();
        if (line != null && !orderly) {
            line.cancel(true);
        }
    }

    /** A received status counts, even if the rest of the response failed. */
    private DeliveryResult outcome(@Nullable Throwable error) {
        ResponseReader.Head head = answer.head();
        if (head != null) {
            return new ResponseClassifier(settings).on(head, answer.excerpt());
        }
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof PermanentFailureException unsendable) {
            return DeliveryResult.rejected(Objects.requireNonNullElse(unsendable.getMessage(), "cannot be sent"));
        }
        if (cause instanceof HttpConnectTimeoutException) {
            return DeliveryResult.failed("no connection within " + settings.connectTimeout.toMillis() + " ms");
        }
        if (cause instanceof TimeoutException || cause instanceof HttpTimeoutException) {
            return DeliveryResult.failed("no answer within " + settings.timeout.toMillis() + " ms");
        }
        return DeliveryResult.failed(cause == null ? "no answer" : Excerpt.of(cause));
    }
}
