package dev.postrider.dispatch;

/** The two clocks of a node. Only ever used to decide when to stop relying on a lease, and when to look again. */
interface Time {

    long nanos();

    long wallMillis();
}
