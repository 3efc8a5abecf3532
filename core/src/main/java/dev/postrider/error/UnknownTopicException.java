package dev.postrider.error;

/** The topic is not registered in this database, so nobody would ever deliver its messages. Nothing was written. */
public final class UnknownTopicException extends PostriderException {

    private final String topic;

    public UnknownTopicException(String topic) {
        super("Topic '" + topic + "' is not registered in this database. Declare it with"
                + " Postrider.on(dataSource).topic(\"" + topic + "\", …) in a process that calls migrate() or start(),"
                + " or correct the name.");
        this.topic = topic;
    }

    public String topic() {
        return topic;
    }
}
