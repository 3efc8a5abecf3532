package dev.postrider.error;

/** A message, a key or a header is not acceptable. Thrown before anything is written. */
public final class InvalidMessageException extends PostriderException {

    private final String field;

    public InvalidMessageException(String field, String problem) {
        super(field + " " + problem);
        this.field = field;
    }

    /** The part of the message that was refused, such as {@code topic} or {@code header 'x'}. */
    public String field() {
        return field;
    }
}
