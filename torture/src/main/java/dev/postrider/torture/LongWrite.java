package dev.postrider.torture;

/** A transaction writes a message and commits it much later, when much that came after it has been delivered. */
final class LongWrite implements Fault {

    private final Slot producer;
    private final int key;

    LongWrite(Slot producer, int key) {
        this.producer = producer;
        this.key = key;
    }

    @Override
    public String target() {
        return producer.name();
    }

    @Override
    public boolean begin() {
        producer.tell("hold " + key);
        return true;
    }

    @Override
    public void end() {
        producer.tell("release");
    }
}
