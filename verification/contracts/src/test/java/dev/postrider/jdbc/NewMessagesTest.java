package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.MessageStore;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** A look for what was written just now, which is what a wake-up asks for. */
final class NewMessagesTest {

    private static final ClaimRequest THOROUGH = ClaimRequest.of("orders", "worker");
    private static final ClaimRequest NEW = THOROUGH.newOnly(true);

    private final DataSource dataSource =
            Databases.assumeStarted(Engine.H2).createDatabase("new").dataSource();
    private final AtomicLong nanos = new AtomicLong(-5);

    @Test
    void scanForNewMessagesScansForExpiredLeasesNowAndThenOnly() throws SQLException {
        MessageStore store = store();
        assertThat(store.claim(NEW)).hasSize(1);
        new DatabaseClock(dataSource).advance(Duration.ofMinutes(1));

        nanos.addAndGet(Duration.ofMillis(499).toNanos());
        assertThat(store.claim(NEW)).isEmpty();
        nanos.addAndGet(Duration.ofMillis(1).toNanos());
        assertThat(store.claim(NEW)).hasSize(1);
    }

    @Test
    void fullScanFindsThemAtOnce() throws SQLException {
        MessageStore store = store();
        assertThat(store.claim(NEW)).hasSize(1);
        new DatabaseClock(dataSource).advance(Duration.ofMinutes(1));

        assertThat(store.claim(THOROUGH)).hasSize(1);
    }

    /** With one message waiting. */
    private MessageStore store() throws SQLException {
        Postrider postrider = Postrider.on(dataSource).topic("orders").build();
        postrider.migrate();
        postrider.inTransaction(
                work -> work.stage(Message.to("orders").type("thing").text("x").build()));
        return JdbcDatabase.open(dataSource, TableOptions.defaults(), Duration.ofSeconds(60), event -> {})
                .messages(new TimeAndIds(nanos::get, UUID::randomUUID));
    }
}
