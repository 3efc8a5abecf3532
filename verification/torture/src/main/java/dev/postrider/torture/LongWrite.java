package dev.postrider.torture;

/** A transaction that writes a message and commits much later, after many later messages were delivered. */
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
