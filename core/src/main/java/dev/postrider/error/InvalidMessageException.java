package dev.postrider.error;

/** A message, a key or a header is not valid. Neither the message nor the other messages of its batch are written. */
public final class InvalidMessageException extends PostriderException {

    private final String field;

    public InvalidMessageException(String field, String problem) {
        super(field + " " + problem);
        this.field = field;
    }

    /** Returns the invalid part of the message, such as {@code topic} or {@code header 'x'}. */
    public String field() {
        return field;
    }
}
