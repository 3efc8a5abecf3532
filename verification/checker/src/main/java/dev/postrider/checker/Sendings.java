package dev.postrider.checker;

/** The deliveries that workers were about to send. */
final class Sendings {

    final Ints message = new Ints(-1);
    final Longs time = new Longs(0);

    /** The process, by its index in the list of workers. */
    final Ints worker = new Ints(-1);

    final Ints token = new Ints(-1);
}
