package dev.postrider.idempotency.http;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tenant and the caller that a key belongs to.
 *
 * @param problem the reason why they are not known; a key never falls back to a shared namespace
 */
record Scope(
        @Nullable String tenant,
        @Nullable String caller,
        @Nullable HttpProblem problem) {

    private static final Logger LOG = LoggerFactory.getLogger(Scope.class);

    static Scope of(KeyedRequest call, KeySettings settings) {
        try {
            String caller = settings.anyCaller ? null : settings.caller.apply(call);
            if (!settings.anyCaller && (caller == null || caller.isEmpty())) {
                return new Scope(null, null, HttpProblem.NO_CALLER);
            }
            String tenant = settings.tenant == null ? null : settings.tenant.apply(call);
            if (settings.tenant != null && (tenant == null || tenant.isEmpty())) {
                LOG.error("HTTP_IDEMPOTENCY_SCOPE operation={} problem=no-tenant", settings.operation);
                return new Scope(null, null, HttpProblem.SCOPE_UNRESOLVED);
            }
            return new Scope(tenant, caller, null);
        } catch (RuntimeException e) {
            LOG.error("HTTP_IDEMPOTENCY_SCOPE operation={} problem=resolver-failed", settings.operation, e);
            return new Scope(null, null, HttpProblem.SCOPE_UNRESOLVED);
        }
    }
}
