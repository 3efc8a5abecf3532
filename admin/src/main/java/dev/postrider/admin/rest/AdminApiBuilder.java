package dev.postrider.admin.rest;

import dev.postrider.admin.Admin;
import dev.postrider.admin.rest.Route.Call;
import dev.postrider.idempotency.Commands;
import org.jspecify.annotations.Nullable;

/**
 * Collects the options of an {@link AdminApi}. Get one from {@link AdminApi#on}. Not thread-safe.
 *
 * <p>Without an {@link #authenticator}, only requests that come to a loopback address under a loopback name are answered.
 */
public final class AdminApiBuilder {

    private static final String LOCAL = "local";

    final Admin admin;

    @Nullable
    Authenticator authenticator;

    Operator local = Operator.of(LOCAL, Role.ADMIN);
    boolean readOnly;

    @Nullable
    Role payloads;

    Redaction redaction = (topic, part, text) -> text;

    @Nullable
    AdminEvents events;

    @Nullable
    Commands commands;

    AdminApiBuilder(Admin admin) {
        this.admin = admin;
    }

    /** Sets who finds out the operator of a request. */
    public AdminApiBuilder authenticator(Authenticator authenticator) {
        this.authenticator = authenticator;
        return this;
    }

    /** Sets the operator of requests from this machine when there is no authenticator: an admin named local by default. */
    public AdminApiBuilder local(Operator operator) {
        this.local = operator;
        return this;
    }

    /** Registers no route that changes anything. */
    public AdminApiBuilder readOnly() {
        this.readOnly = true;
        return this;
    }

    /** Shows payloads and the values of headers to operators with this role or a higher one; to none by default. */
    public AdminApiBuilder payloadsFor(Role least) {
        this.payloads = least;
        return this;
    }

    /** Sets what changes payloads, headers and error texts before they are shown. */
    public AdminApiBuilder redaction(Redaction redaction) {
        this.redaction = redaction;
        return this;
    }

    /** Sets the source of samples, health and event streams. Without it their routes answer 404. */
    public AdminApiBuilder events(AdminEvents events) {
        this.events = events;
        return this;
    }

    /**
     * Sets where the keys of {@code Idempotency-Key} headers are stored: {@code postrider.commands()}. Without it, a request
     * with such a header is refused, because a client that sends one relies on it.
     */
    public AdminApiBuilder idempotency(Commands commands) {
        this.commands = commands;
        return this;
    }

    /** Returns the API. */
    public AdminApi build() {
        return new AdminApi(this);
    }

    View view(Operator operator) {
        return new View(payloads != null && operator.role().includes(payloads), redaction);
    }

    Shapes.Self self(Call call) {
        return new Shapes.Self(call.operator(), readOnly, view(call.operator()).payloads());
    }
}
