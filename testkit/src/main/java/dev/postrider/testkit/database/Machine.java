package dev.postrider.testkit.database;

import java.util.Locale;

/** Properties of the operating system that the launchers need. */
final class Machine {

    private static final String OS = System.getProperty("os.name").toLowerCase(Locale.ROOT);

    private Machine() {}

    static boolean isWindows() {
        return OS.startsWith("windows");
    }

    static boolean isLinux() {
        return OS.startsWith("linux");
    }

    static boolean isMac() {
        return OS.startsWith("mac");
    }

    /** Whether this JVM runs as root. Servers refuse to run as root, unless an engine-specific option allows it. */
    static boolean isRoot() {
        return !isWindows() && "root".equals(System.getProperty("user.name"));
    }
}
