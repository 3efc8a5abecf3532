package dev.postrider.error;

/**
 * A setting or an argument is not valid, alone or together with another one. For settings, it is thrown when the
 * configuration is built, before anything starts.
 */
public final class InvalidConfigurationException extends PostriderException {

    private final String property;

    public InvalidConfigurationException(String property, String problem) {
        super(property + " " + problem);
        this.property = property;
    }

    /** Returns the property to change, as {@code docs/configuration.md} names it. */
    public String property() {
        return property;
    }
}
