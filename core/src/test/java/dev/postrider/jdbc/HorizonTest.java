package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class HorizonTest {

    private final Horizon horizon = new Horizon();

    @Test
    void numberIsProvedWhenAllWhoBeganBeforeALaterWriteHaveFinished() {
        look("a", 100, 7);
        horizon.wrote(horizon.lastSeen(), 10);

        look("a", 120, 10);
        assertThat(horizon.proved()).as("the writer itself has not finished").isZero();

        look("a", 130, 11);
        assertThat(horizon.proved()).isEqualTo(100);
    }

    @Test
    void writeThatWasSentBeforeTheDatabaseWasLostProvesNothingOfTheNextOne() {
        look("a", 100, 7);
        Horizon.Seen before = horizon.lastSeen();
        horizon.forget();
        horizon.begin("b");
        look("b", 90, 8);

        horizon.wrote(before, 10);
        look("b", 91, 11);

        assertThat(horizon.proved()).as("91 to 100 are handed out again").isZero();
    }

    @Test
    void scanOfAnotherServerThanItBeganWithProvesNothing() {
        look("a", 100, 7);

        assertThat(horizon.see(sight("b", 90, 8))).isFalse();

        assertThat(horizon.isOfAnotherServer("b")).isTrue();
        assertThat(horizon.lastSeen().number()).isEqualTo(100);
        horizon.forget();
        assertThat(horizon.isOfAnotherServer("b")).isFalse();
        assertThat(horizon.see(sight("b", 90, 8)))
                .as("the server has not said that it is this one")
                .isFalse();
    }

    @Test
    void writesThatAreAnsweredOutOfOrderProveNoMoreThanEachByItself() {
        look("a", 100, 7);
        Horizon.Seen early = horizon.lastSeen();
        look("a", 120, 8);
        Horizon.Seen late = horizon.lastSeen();

        horizon.wrote(late, 10);
        horizon.wrote(early, 12);
        look("a", 130, 10);
        assertThat(horizon.proved()).isZero();

        look("a", 130, 11);
        assertThat(horizon.proved()).isEqualTo(120);
    }

    @BeforeEach
    void begin() {
        horizon.begin("a");
    }

    private void look(String server, long lastNumber, long finishedBefore) {
        assertThat(horizon.see(sight(server, lastNumber, finishedBefore))).isTrue();
    }

    private static Horizon.Sight sight(String server, long lastNumber, long finishedBefore) {
        return new Horizon.Sight(server, lastNumber, finishedBefore, null);
    }
}
