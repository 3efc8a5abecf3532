package dev.postrider.dispatch;

import dev.postrider.internal.ErrorText;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.PermanentFailureException;
import dev.postrider.transport.RetryLaterException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Says what a throwable from a handler or a transport means. */
final class Failures {

    private Failures() {}

    static DeliveryResult classify(Topic topic, Throwable thrown) {
        Throwable failure = unwrapped(thrown);
        String error = ErrorText.of(failure);
        if (failure instanceof RetryLaterException later) {
            return DeliveryResult.failed(error, later.delay());
        }
        return failure instanceof PermanentFailureException || isPermanent(topic, failure)
                ? DeliveryResult.rejected(error)
                : DeliveryResult.failed(error);
    }

    private static boolean isPermanent(Topic topic, Throwable failure) {
        try {
            return topic.isPermanent(failure);
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
            return false;
        }
    }

    private static Throwable unwrapped(Throwable thrown) {
        Throwable cause = thrown.getCause();
        boolean wrapper = thrown instanceof CompletionException || thrown instanceof ExecutionException;
        return wrapper && cause != null ? cause : thrown;
    }
}
