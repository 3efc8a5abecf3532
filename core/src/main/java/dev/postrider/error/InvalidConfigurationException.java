package dev.postrider.error;

/** A setting cannot work, alone or together with another. Thrown when the configuration is built, before anything starts. */
public final class InvalidConfigurationException extends PostriderException {

    private final String property;

    public InvalidConfigurationException(String property, String problem) {
        super(property + " " + problem);
        this.property = property;
    }

    /** The property to change, as {@code docs/configuration.md} names it. */
    public String property() {
        return property;
    }
}
