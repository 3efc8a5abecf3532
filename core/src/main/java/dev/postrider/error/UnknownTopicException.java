package dev.postrider.error;

/** The topic is not registered in this database, so no node would deliver its messages. Nothing was written. */
public final class UnknownTopicException extends PostriderException {

    private final String topic;

    public UnknownTopicException(String topic) {
        super("Topic '" + topic + "' is not registered in this database. Declare it with"
                + " Postrider.on(dataSource).topic(\"" + topic
                + "\", …) in a process that calls migrate(), register() or start(),"
                + " or correct the name.");
        this.topic = topic;
    }

    /** Returns the name of the unknown topic. */
    public String topic() {
        return topic;
    }
}
