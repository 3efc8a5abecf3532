package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
final class DemoProcessTest {

    @TempDir
    private Path directory = Path.of("");

    @Test
    void provesThatEveryCommittedOrderWasDelivered() throws Exception {
        try (Child demo = Child.start(directory, "demo", "--seconds", "5")) {
            assertThat(demo.awaitExit()).as(demo.output()).isZero();
            assertThat(demo.output())
                    .contains("fsync=on, synchronous_commit=on")
                    .containsPattern("enqueued [0-9]+   delivered [0-9]+   retrying [0-9]+   dead 0   oldest [0-9.]+ s")
                    .containsPattern("orders committed +[1-9]")
                    .containsPattern("lost +0 ")
                    .containsPattern("phantoms +0 ")
                    .containsPattern("rolled back +[1-9][0-9]* +on purpose; delivered of these: 0")
                    .containsPattern("[1-9][0-9]* failed on purpose")
                    .contains("Proved: every committed order was delivered");
            assertThat(demo.output().lines().filter(line -> line.contains("WARN")))
                    .allMatch(line -> line.contains("OUTBOX_WORKER_DISPATCH_FAIL"), "fails on purpose");
        }
    }

    @Test
    void endsInOrderOnControlCAndLeavesNothingBehind() throws Exception {
        Path temporary = Files.createDirectory(directory.resolve("tmp"));
        try (Child demo = Child.start(directory, temporary, "demo")) {
            demo.awaitOutput("delivered");
            demo.interrupt();

            assertThat(demo.awaitExit()).as(demo.output()).isZero();
            assertThat(demo.output()).contains("Proved");
        }
        try (Stream<Path> left = Files.list(temporary)) {
            // The library's script for telling Linux distributions apart waits for an exit that is not halted.
            assertThat(left.map(path -> path.getFileName().toString()))
                    .allMatch(name -> name.startsWith("detect_linux_distribution_"));
        }
    }
}
