package dev.postrider.checker;

/** One process that delivered. Times are zero for what it did not come to. */
record Worker(String file, String name, String pid, long started, long stopping, long stopped) {

    boolean isMeant(String target) {
        return target.equals(name) || target.equals(file) || target.equals(pid);
    }
}
