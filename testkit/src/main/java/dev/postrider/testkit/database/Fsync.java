package dev.postrider.testkit.database;

/** Whether servers flush each commit to the disk. Commits survive a kill of the server either way, but not a crash of the machine. */
final class Fsync {

    static final String PROPERTY = "postrider.engines.fsync";

    private Fsync() {}

    /** True unless the system property {@value #PROPERTY} is {@code false}. */
    static boolean isOn() {
        return !"false".equals(System.getProperty(PROPERTY));
    }
}
