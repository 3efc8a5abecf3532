package dev.postrider.admin.rest;

import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Limits operators to their tenant. What belongs to another tenant is as if it did not exist. */
final class Tenants {

    private Tenants() {}

    static boolean isVisible(Operator operator, @Nullable String tenant) {
        return operator.tenant() == null || operator.tenant().equals(tenant);
    }

    /** Keeps what belongs to the tenant of the operator. */
    static <T> Optional<T> visible(Operator operator, Optional<T> found, Function<T, @Nullable String> tenant) {
        return found.filter(value -> isVisible(operator, tenant.apply(value)));
    }

    /** Returns the tenant that is meant: the given one, which must be that of the operator if it has one. */
    static @Nullable String of(Operator operator, @Nullable String given) {
        if (given != null && !isVisible(operator, given)) {
            throw refusal();
        }
        return given != null ? given : operator.tenant();
    }

    static Refusal refusal() {
        return ProblemType.TENANT_ONLY
                .because("This operator sees and changes one tenant only, and this concerns others")
                .refusal();
    }
}
