package dev.postrider.idempotency.http;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whom a key belongs to.
 *
 * @param problem why that cannot be told; a key never falls back to a namespace that others share
 */
record Scope(
        @Nullable String tenant,
        @Nullable String caller,
        @Nullable Problem problem) {

    private static final Logger LOG = LoggerFactory.getLogger(Scope.class);

    static Scope of(HttpCall call, KeySettings settings) {
        try {
            String caller = settings.anyCaller ? null : settings.caller.apply(call);
            if (!settings.anyCaller && (caller == null || caller.isEmpty())) {
                return new Scope(null, null, Problem.NO_CALLER);
            }
            String tenant = settings.tenant == null ? null : settings.tenant.apply(call);
            if (settings.tenant != null && (tenant == null || tenant.isEmpty())) {
                LOG.error("HTTP_IDEMPOTENCY_SCOPE operation={} problem=no-tenant", settings.operation);
                return new Scope(null, null, Problem.SCOPE_UNRESOLVED);
            }
            return new Scope(tenant, caller, null);
        } catch (RuntimeException e) {
            LOG.error("HTTP_IDEMPOTENCY_SCOPE operation={} problem=resolver-failed", settings.operation, e);
            return new Scope(null, null, Problem.SCOPE_UNRESOLVED);
        }
    }
}
