package dev.postrider.checker;

/** One worker process. Times of events that did not happen are zero. */
record Worker(String file, String name, String pid, long started, long stopping, long stopped) {

    boolean isMeant(String target) {
        return target.equals(name) || target.equals(file) || target.equals(pid);
    }
}
