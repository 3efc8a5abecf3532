package dev.postrider.dispatch;

/** A thread of one engine, by which the engine can tell that it is called from within itself. */
final class OwnThread extends Thread {

    private final Object owner;

    OwnThread(Object owner, Runnable task, String name) {
        super(task, "postrider-" + name);
        this.owner = owner;
        setDaemon(true);
    }

    /** Whether the calling thread is one of this owner's. */
    static boolean isRunningFor(Object owner) {
        return Thread.currentThread() instanceof OwnThread own && own.owner.equals(owner);
    }
}
