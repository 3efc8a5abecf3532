package dev.postrider.checker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LargeRunTest {

    @Test
    void oneWrongDeliveryAmongManyIsFound(@TempDir Path directory) throws IOException {
        new LargeRun(directory, 20_000).write();
        Story.Answer good = Story.run("--journals-only", directory.toString());
        assertThat(good.status()).as(good.text()).isZero();
        assertThat(good.text()).contains("I1 holds: 20000").contains("I4 holds: 10000");

        Path receiver = directory.resolve("receiver.journal");
        String first = Files.readAllLines(receiver).get(0);
        long later = Story.BEGINNING + 600 * Story.SECOND + 2_500_000;
        Files.writeString(
                receiver,
                first.replaceFirst("^\\d+", "" + later).replace("w1", "w2") + "\n",
                StandardOpenOption.APPEND);

        Story.Answer bad = Story.run("--journals-only", directory.toString());
        assertThat(bad.status()).isEqualTo(1);
        assertThat(bad.text().lines().filter(line -> line.contains("VIOLATED")))
                .singleElement()
                .asString()
                .startsWith("I6 VIOLATED: message ");
    }
}
