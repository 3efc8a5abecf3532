package dev.postrider.dispatch;

import dev.postrider.error.PostriderException;
import dev.postrider.internal.ErrorText;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.PermanentFailureException;
import dev.postrider.transport.RetryLaterException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says what a throwable means. Never throws itself, however strange the throwable is. */
final class Failures {

    private static final Logger log = LoggerFactory.getLogger(Failures.class);

    private static final int MAX_WRAPPERS = 5;

    private Failures() {}

    /** What a throwable from a handler or a transport means for the message. */
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

    /** For an operator: our own exceptions say all there is to say in their message. */
    static String text(Throwable failure) {
        return failure instanceof PostriderException ? String.valueOf(failure.getMessage()) : ErrorText.of(failure);
    }

    private static boolean isPermanent(Topic topic, Throwable failure) {
        try {
            return topic.isPermanent(failure);
        } catch (Throwable e) {
            log.warn(
                    "What topic {} declares permanent could not be asked: the attempt counts as failed",
                    topic.name(),
                    e);
            return false;
        }
    }

    private static Throwable unwrapped(Throwable thrown) {
        Throwable failure = thrown;
        for (int i = 0; i < MAX_WRAPPERS; i++) {
            boolean wrapper = failure instanceof CompletionException || failure instanceof ExecutionException;
            Throwable cause = wrapper ? failure.getCause() : null;
            if (cause == null) {
                break;
            }
            failure = cause;
        }
        return failure;
    }
}
