package dev.postrider.admin.rest;

import dev.postrider.Postrider;
import dev.postrider.admin.Admin;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.StoredCommand;
import dev.postrider.idempotency.Command;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.PermanentFailureException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A database of its own with messages and commands of two tenants and of none: a dead letter, a scheduled message, a blocked key with a
 * parked head, and an uncertain command each.
 */
final class Fixture implements AutoCloseable {

    static final String ACME = "acme";
    static final String GLOBEX = "globex";

    static final String VIEWER = "viewer-0123456789abcdef";
    static final String OPERATOR = "operator-0123456789abcdef";
    static final String ADMIN = "admin-0123456789abcdef";
    static final String OF_ACME = "acme-0123456789abcdef";

    static final String SCRIPT = "<script>alert(1)</script>";

    static final BearerTokens TOKENS = BearerTokens.none()
            .with(VIEWER, Operator.of("vera", Role.VIEWER))
            .with(OPERATOR, Operator.of("otto", Role.OPERATOR))
            .with(ADMIN, Operator.of("ada", Role.ADMIN))
            .with(OF_ACME, Operator.of("alma", Role.ADMIN).inTenant(ACME));

    final Postrider postrider;
    private final Map<String, MessageId> dead = new HashMap<>();
    private final Map<String, MessageId> scheduled = new HashMap<>();

    private Fixture(DataSource database) {
        DeliveryHandler refusing = delivery -> {
            throw new PermanentFailureException("no route to " + SCRIPT);
        };
        postrider = Postrider.on(database)
                .topic("orders", topic -> topic.deliver(refusing))
                .topic("accounts", topic -> topic.ordered().lanes(2).deliver(refusing))
                .topic("empty", topic -> topic.deliver(delivery -> {}))
                .build();
        postrider.migrate();
    }

    /** Opens an empty database with the topics. */
    static Fixture onH2() {
        return new Fixture(Databases.shared(Engine.H2).createDatabase("admin").dataSource());
    }

    static Fixture on(DataSource database) {
        return new Fixture(database);
    }

    /** Fills the database. */
    Fixture filled() {
        for (String tenant : List.of(ACME, GLOBEX, "")) {
            fill(tenant.isEmpty() ? null : tenant);
        }
        postrider.deliverDue();
        return this;
    }

    private void fill(@Nullable String tenant) {
        Message failing = order(tenant).header("x-shown", SCRIPT).build();
        Message later =
                order(tenant).deliverAt(Instant.parse("2100-01-01T00:00:00Z")).build();
        dead.put(String.valueOf(tenant), failing.id());
        scheduled.put(String.valueOf(tenant), later.id());
        postrider.inTransaction(work -> {
            work.stage(failing);
            work.stage(later);
            for (int i = 0; i < 2; i++) {
                work.stage(Message.to("accounts")
                        .type("account.debited")
                        .tenant(tenant)
                        .key("account-" + tenant)
                        .json("{}")
                        .build());
            }
        });
        uncertain(tenant);
    }

    private static Message.Builder order(@Nullable String tenant) {
        return Message.to("orders")
                .type("order.placed")
                .tenant(tenant)
                .key("key " + SCRIPT)
                .text("payload of " + tenant + " " + SCRIPT);
    }

    private void uncertain(@Nullable String tenant) {
        Command<String> command = Command.named("charge")
                .tenant(tenant)
                .caller("shop")
                .key("key-of-" + tenant)
                .fingerprint("x")
                .returningText();
        try {
            postrider.commands().<String, RuntimeException>lease(command, lease -> {
                lease.externalEffectStarted();
                throw new IllegalStateException("no answer");
            });
        } catch (IllegalStateException expected) {
            // the command is uncertain now
        }
    }

    Admin admin() {
        return postrider.admin();
    }

    MessageId dead(String tenant) {
        return dead.getOrDefault(tenant, MessageId.next());
    }

    MessageId scheduled(String tenant) {
        return scheduled.getOrDefault(tenant, MessageId.next());
    }

    BlockedKey blockedKey(String tenant) {
        return admin().blockedKeys("accounts", 100).stream()
                .filter(key -> tenant.equals(key.tenant()))
                .findFirst()
                .orElseThrow();
    }

    UUID command(String tenant) {
        return admin().commands().uncertain(100).stream()
                .filter(command -> tenant.equals(command.tenant()))
                .map(StoredCommand::reference)
                .findFirst()
                .orElseThrow();
    }

    /** Starts an API for operators with a token. */
    AdminApiBuilder api() {
        return AdminApi.on(admin()).authenticator(TOKENS).idempotency(postrider.commands());
    }

    @Override
    public void close() {
        postrider.close();
    }
}
