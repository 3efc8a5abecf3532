package dev.postrider.dispatch;

/** The two clocks of a node. Only ever used to decide when to stop relying on a lease, and when to look again. */
interface Time {

    long nanos();

    long wallMillis();

    static Time system() {
        return new Time() {
            @Override
            public long nanos() {
                return System.nanoTime();
            }

            @Override
            public long wallMillis() {
                return System.currentTimeMillis();
            }
        };
    }
}
