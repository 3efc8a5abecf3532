package dev.postrider.internal;

/** A daemon thread that belongs to an owner. */
final class OwnedThread extends Thread {

    final Object owner;

    OwnedThread(Object owner, Runnable task, String name) {
        super(task, "postrider-" + name);
        this.owner = owner;
        setDaemon(true);
    }
}
