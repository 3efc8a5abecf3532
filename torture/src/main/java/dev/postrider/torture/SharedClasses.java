package dev.postrider.torture;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The classes of the run's processes, loaded once for all of them. Processes are killed seconds after they have started; without this they
 * would spend most of these on loading classes. There is none when a class path has directories: Java shares only what is in jars.
 */
final class SharedClasses {

    private SharedClasses() {}

    /** For a process that leaves the classes it has loaded to others when it ends in good order. */
    static List<String> written(Path directory) {
        return List.of("-XX:ArchiveClassesAtExit=" + archive(directory), "-Xlog:cds=off", "-Xlog:cds+dynamic=off");
    }

    /** For all others. */
    static List<String> used(Path directory) {
        return Files.exists(archive(directory)) ? List.of("-XX:SharedArchiveFile=" + archive(directory)) : List.of();
    }

    private static Path archive(Path directory) {
        return directory.resolve("logs").resolve("classes.jsa");
    }
}
