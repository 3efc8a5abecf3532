package dev.postrider.server.cli;

/** Checks numbers that users give. */
final class Limits {

    private Limits() {}

    static void require(String option, int value, int most) {
        if (value < 1 || value > most) {
            throw CommandFailure.usage(option + " must be 1 to " + most + ", but is " + value);
        }
    }
}
