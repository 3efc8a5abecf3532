package dev.postrider.dispatch;

import dev.postrider.error.PostriderException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.internal.ErrorText;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.PermanentFailureException;
import dev.postrider.transport.RetryLaterException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Maps throwables to delivery results and error texts. Never throws, whatever the throwable is. */
final class ThrowableClassifier {

    private static final Logger log = LoggerFactory.getLogger(ThrowableClassifier.class);

    private static final int MAX_WRAPPERS = 5;

    private ThrowableClassifier() {}

    /** The result of a delivery whose handler or transport threw this. The message keeps the exception for its event. */
    static DeliveryResult classify(InFlightMessage claimed, Throwable thrown) {
        Throwable failure = unwrapped(thrown);
        String error = ErrorText.of(failure);
        claimed.threw(failure, error);
        return classify(claimed.topic(), failure, error);
    }

    private static DeliveryResult classify(Topic topic, Throwable failure, String error) {
        if (failure instanceof RetryLaterException later) {
            return DeliveryResult.failed(error, later.delay());
        }
        return failure instanceof PermanentFailureException || mayBeCommitted(failure) || isPermanent(topic, failure)
                ? DeliveryResult.rejected(error)
                : DeliveryResult.failed(error);
    }

    /** The text for an operator. The message of an exception of this library is complete in itself. */
    static String text(Throwable failure) {
        return failure instanceof PostriderException ? String.valueOf(failure.getMessage()) : ErrorText.of(failure);
    }

    /** The handler ended its transaction. Another attempt would repeat the committed part. */
    private static boolean mayBeCommitted(Throwable failure) {
        return failure instanceof UnusableConnectionException unusable
                && unusable.problem() == UnusableConnectionException.Problem.ENDED;
    }

    private static boolean isPermanent(Topic topic, Throwable failure) {
        try {
            return topic.isPermanent(failure);
        } catch (Throwable e) {
            log.warn("The permanentOn predicate of topic {} failed: the attempt counts as failed", topic.name(), e);
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
