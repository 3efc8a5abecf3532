package dev.postrider.simulation;

/** The run is over, and this thread with it. Not an exception: no code is to take it for a failure and go on. */
@SuppressWarnings("serial")
final class Halted extends Error {

    Halted() {
        super("the run is over", null, false, false);
    }
}
