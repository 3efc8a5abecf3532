package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
final class DemoProcessTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);

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
                    .containsPattern("mail and stock +[1-9][0-9]* .* 0 dead, 1 parked, [1-9][0-9]* waiting, 0 missing")
                    .contains("./postrider failures --db jdbc:postgresql://localhost:")
                    .contains("Proved: every committed order was delivered");
            assertThat(demo.output().lines().filter(line -> line.contains("WARN")))
                    .allMatch(
                            line -> line.matches(".*OUTBOX_WORKER_(DISPATCH_FAIL(_MORE)?|PARK|SETTLE) .*"),
                            "fails on purpose");
        }
    }

    @Test
    void commandsThatAreNotedOnTheScreenPutRightWhatIsBrokenOnPurpose() throws Exception {
        try (Child demo = Child.start(directory, "demo")) {
            demo.awaitOutput("delivered");
            String database = found(demo.output(), "--db (\\S+)");
            URI repair = URI.create(found(demo.output(), "curl -X POST (\\S+)"));
            String[] options = {"--db", database, "--user", "postgres"};
            Await.until(LIMIT, () -> run(options, "failures").contains("stock"), () -> run(options, "status"));

            assertThat(HttpClient.newHttpClient()
                            .send(
                                    HttpRequest.newBuilder(repair)
                                            .POST(HttpRequest.BodyPublishers.noBody())
                                            .build(),
                                    HttpResponse.BodyHandlers.discarding())
                            .statusCode())
                    .isEqualTo(204);
            assertThat(run(options, "status")).containsPattern("mail +active +[0-9]+ +0 +[0-9]+ ");
            assertThat(run(options, "replay", "--state", "parked", "--yes")).contains("Changed 1 message.");
            demo.interrupt();

            assertThat(demo.awaitExit()).as(demo.output()).isZero();
            assertThat(demo.output())
                    .containsPattern(
                            "mail and stock .* [1-9][0-9]* delivered, 0 dead, 0 parked, [0-9]+ waiting, 0 missing");
        }
    }

    private static String run(String[] options, String... arguments) {
        String[] all = Arrays.copyOf(arguments, arguments.length + options.length);
        System.arraycopy(options, 0, all, arguments.length, options.length);
        return Cli.run(all).out();
    }

    private static String found(String text, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.find()).as(text).isTrue();
        return matcher.group(1);
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
