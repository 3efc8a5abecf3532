package dev.postrider.checker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class ModelTest {

    private final Model model = Model.read();

    @Test
    void listIsThatOfTheModels() throws IOException {
        assertThat(Path.of("target/classes/dev/postrider/checker/transitions.txt"))
                .hasSameTextualContentAs(Path.of("../model/src/main/tla/transitions.txt"));
        assertThat(Files.readAllLines(Path.of("../model/src/main/tla/transitions.txt")))
                .filteredOn(line -> line.startsWith("leased DEAD GONE "))
                .hasSize(2);
        assertThat(model.causes(new Step("leased", "DEAD", "GONE"))).containsExactly("discard", "purge");
    }

    @Test
    void whatTheCodeDoesBesideTheModelsIsAllowedToo() {
        Step scheduled = new Step("laned", "NONE", "SCHEDULED");
        assertThat(model.causes(scheduled)).containsExactly("enqueue");
        assertThat(model.isModelled(scheduled)).isFalse();
        assertThat(model.isModelled(new Step("laned", "NONE", "PENDING"))).isTrue();
        // Of several causes one is enough.
        assertThat(model.isModelled(new Step("command", "UNCERTAIN", "FAILED"))).isTrue();
    }

    @Test
    void whatIsNotListedIsNotAllowed() {
        assertThat(model.causes(new Step("laned", "PENDING", "PROCESSING"))).isEmpty();
        assertThat(model.causes(new Step("command", "PENDING", "PROCESSING"))).isEmpty();
    }
}
