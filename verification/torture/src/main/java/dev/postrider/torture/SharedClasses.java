package dev.postrider.torture;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The archive of classes that the processes of a run share. Processes are killed seconds after their start; without the archive most
 * of this time would go into class loading. There is no archive if the class path has directories: Java shares only classes from
 * jars.
 */
final class SharedClasses {

    private SharedClasses() {}

    /** Options for a process that writes the archive at its graceful exit. */
    static List<String> written(Path directory) {
        return List.of("-XX:ArchiveClassesAtExit=" + archive(directory), "-Xlog:cds=off", "-Xlog:cds+dynamic=off");
    }

    /** Options for all other processes. */
    static List<String> used(Path directory) {
        return Files.exists(archive(directory)) ? List.of("-XX:SharedArchiveFile=" + archive(directory)) : List.of();
    }

    private static Path archive(Path directory) {
        return directory.resolve("logs").resolve("classes.jsa");
    }
}
