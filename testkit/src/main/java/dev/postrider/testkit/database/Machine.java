package dev.postrider.testkit.database;

import java.util.Locale;

/** What the launchers must know about the machine. */
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

    /** Servers refuse to run as root, each unless told in its own way. */
    static boolean isRoot() {
        return !isWindows() && "root".equals(System.getProperty("user.name"));
    }
}
