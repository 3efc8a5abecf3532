package dev.postrider.admin.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.message.MessageId;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two processes serve the API of one PostgreSQL: a change with a key is made once, whichever of them gets the retry. */
final class IdempotentWriteTest {

    private static final String ORDERS = "{\"topic\":\"orders\"}";
    private static final String PAUSE = "/v1/topics/pause";

    private final DataSource database = Databases.assumeStarted(Engine.POSTGRESQL_18)
            .createDatabase("admin")
            .dataSource();
    private final Fixture one = Fixture.on(database).filled();
    private final Fixture two = Fixture.on(database);
    private final List<Server.Running> servers = new ArrayList<>();

    @BeforeEach
    void serve() throws Exception {
        servers.add(Server.JDK.start(one.api().build()));
        servers.add(Server.JETTY.start(two.api().build()));
    }

    @AfterEach
    void close() {
        for (Server.Running server : servers) {
            server.close();
        }
        one.close();
        two.close();
    }

    private Client client(int server, String token) {
        return servers.get(server).client(token);
    }

    private List<String> audit() {
        return one.admin().audit(Long.MAX_VALUE, 100).stream()
                .map(AuditEntry::action)
                .toList();
    }

    @Test
    void retryAtAnotherProcessGetsTheFirstAnswer() throws Exception {
        String replay = "/v1/messages/" + one.dead(Fixture.ACME) + "/replay";

        Client.Answer first = client(0, Fixture.OPERATOR).post(replay, "{}", "Idempotency-Key", "k1");
        Client.Answer retry = client(1, Fixture.OPERATOR).post(replay, "{}", "Idempotency-Key", "k1");

        assertThat(first.body()).isEqualTo(retry.body()).isEqualTo("{\"result\":\"done\"}");
        assertThat(first.header("Idempotency-Replayed")).isEmpty();
        assertThat(retry.header("Idempotency-Replayed")).isEqualTo("true");
        assertThat(retry.header("Content-Security-Policy")).isNotEmpty();
        assertThat(audit()).containsExactly("REPLAY");
    }

    @Test
    void manyAtOnceChangeOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            CyclicBarrier together = new CyclicBarrier(8);
            List<Callable<Integer>> calls = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Client client = client(i % 2, Fixture.OPERATOR);
                calls.add(() -> {
                    together.await();
                    return client.post(PAUSE, ORDERS, "Idempotency-Key", "many").status();
                });
            }
            List<Integer> statuses = new ArrayList<>();
            for (Future<Integer> answer : threads.invokeAll(calls)) {
                statuses.add(answer.get());
            }
            assertThat(statuses).contains(200).allMatch(status -> status == 200 || status == 409);
            assertThat(audit()).containsExactly("PAUSE");
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void keyBelongsToItsOperatorAndItsRequest() throws Exception {
        assertThat(client(0, Fixture.OPERATOR)
                        .post(PAUSE, ORDERS, "Idempotency-Key", "k2")
                        .status())
                .isEqualTo(200);
        assertThat(client(1, Fixture.OPERATOR)
                        .post(PAUSE, "{\"topic\":\"accounts\"}", "Idempotency-Key", "k2")
                        .outcome())
                .isEqualTo("422 key-reused");
        assertThat(client(1, Fixture.ADMIN)
                        .post(PAUSE, ORDERS, "Idempotency-Key", "k2")
                        .header("Idempotency-Replayed"))
                .isEmpty();
        assertThat(audit()).containsExactly("PAUSE", "PAUSE");
        assertThat(client(0, Fixture.OPERATOR)
                        .post(PAUSE, ORDERS, "Idempotency-Key", "")
                        .outcome())
                .isEqualTo("400 invalid-key");
    }

    @Test
    void requestThatChangedNothingLeavesItsKeyUnused() throws Exception {
        MessageId id = one.dead(Fixture.ACME);
        String replay = "/v1/messages/" + id + "/replay";
        Client client = client(0, Fixture.OPERATOR);
        Client.Answer wrong = client.post(replay, "{\"expected\":\"parked\"}", "Idempotency-Key", "k3");
        assertThat(wrong.outcome()).isEqualTo("409 wrong-state");
        assertThat(client.post(PAUSE, "{\"topic\":\"nowhere\"}", "Idempotency-Key", "k4")
                        .outcome())
                .isEqualTo("404 unknown-topic");
        assertThat(client.post(replay, "{\"expected\":\"parked\"}", "Idempotency-Key", "k3")
                        .header("Idempotency-Replayed"))
                .isEmpty();
        assertThat(audit()).isEmpty();
    }

    @Test
    void dryRunUsesNoKey() throws Exception {
        String action = "{\"action\":\"replay\",\"filter\":{\"topic\":\"orders\"},\"dryRun\":%s}";
        Client client = client(0, Fixture.OPERATOR);
        assertThat(client.post("/v1/messages/actions", action.formatted("true"), "Idempotency-Key", "k5")
                        .member("changed"))
                .isEqualTo("3");
        assertThat(client.post("/v1/messages/actions", action.formatted("false"), "Idempotency-Key", "k5")
                        .member("changed"))
                .isEqualTo("3");
        assertThat(client(1, Fixture.OPERATOR)
                        .post("/v1/messages/actions", action.formatted("false"), "Idempotency-Key", "k5")
                        .header("Idempotency-Replayed"))
                .isEqualTo("true");
    }

    /** The answer of the database to the commit is lost, after the change. */
    @Test
    void changeOfUnknownOutcomeIsNotRepeated() throws Exception {
        Admin losing = (Admin) Proxy.newProxyInstance(
                Admin.class.getClassLoader(), new Class<?>[] {Admin.class}, (proxy, method, arguments) -> {
                    Object result = invoke(one.admin(), method, arguments);
                    if (method.getName().equals("pause")) {
                        throw new StoreUnavailableException("The answer was lost", new SQLException("secret text"));
                    }
                    return result;
                });
        try (Server.Running server = Server.JDK.start(AdminApi.on(losing)
                .authenticator(Fixture.TOKENS)
                .idempotency(one.postrider.commands())
                .build())) {
            Client.Answer lost = server.client(Fixture.OPERATOR).post(PAUSE, ORDERS, "Idempotency-Key", "k6");
            assertThat(lost.outcome()).isEqualTo("409 outcome-unknown");
            assertThat(lost.body()).doesNotContain("secret");
        }
        Client.Answer retry = client(1, Fixture.OPERATOR).post(PAUSE, ORDERS, "Idempotency-Key", "k6");
        assertThat(retry.outcome()).isEqualTo("409 outcome-unknown");
        assertThat(audit()).containsExactly("PAUSE");
        assertThat(client(1, Fixture.ADMIN).get("/v1/commands").items("items"))
                .extracting(command -> command.get("operation"))
                .contains("postrider.admin");
    }

    private static Object invoke(Admin admin, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(admin, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }

    @Test
    void serverThatKeepsNoKeysRefusesThem() throws Exception {
        try (Server.Running server = Server.JDK.start(
                AdminApi.on(one.admin()).authenticator(Fixture.TOKENS).build())) {
            Client client = server.client(Fixture.OPERATOR);
            assertThat(client.post(PAUSE, ORDERS, "Idempotency-Key", "k7").outcome())
                    .isEqualTo("400 idempotency-unsupported");
            assertThat(audit()).isEmpty();
            assertThat(client.get("/v1/topics", "Idempotency-Key", "k7").status())
                    .isEqualTo(200);
        }
    }
}
