package dev.postrider.admin.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A database that fails: the client gets a problem, and the log gets the reason. */
final class StoreFailureTest {

    private final DataSource database =
            Databases.shared(Engine.H2).createDatabase("failing").dataSource();
    private final Fixture fixture = Fixture.on(database);

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void failureOfTheDatabaseShowsNoSql() throws Exception {
        try (Server.Running running = Server.JDK.start(fixture.api().build())) {
            Client client = running.client(Fixture.ADMIN);
            try (Connection connection = database.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("DROP TABLE postrider_message CASCADE");
                statement.execute("DROP TABLE postrider_audit CASCADE");
            }
            for (Client.Answer answer : List.of(
                    client.get("/v1/topics"),
                    client.get("/v1/messages?tenant=acme"),
                    client.get("/v1/audit"),
                    client.post("/v1/topics/pause", "{\"topic\":\"orders\"}"))) {
                assertThat(answer.status()).as(answer.body()).isEqualTo(503);
                assertThat(answer.outcome()).isEqualTo("503 store-unavailable");
                assertThat(answer.header("Retry-After")).isEqualTo("5");
                assertThat(answer.body())
                        .doesNotContainIgnoringCase("postrider_", "select", "insert", "h2", "exception");
            }
        }
    }

    @Test
    void failureOfAHookIsAProblemWithoutItsText() throws Exception {
        AdminApi api = AdminApi.on(fixture.admin())
                .authenticator(request -> {
                    throw new IllegalStateException("secret of the directory");
                })
                .build();
        try (Server.Running running = Server.JETTY.start(api)) {
            Client.Answer answer = running.client(Fixture.ADMIN).get("/v1/me");
            assertThat(answer.outcome()).isEqualTo("500 failed");
            assertThat(answer.body()).doesNotContain("secret");
        }
    }
}
