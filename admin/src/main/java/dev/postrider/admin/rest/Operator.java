package dev.postrider.admin.rest;

import dev.postrider.admin.Change;
import dev.postrider.error.InvalidConfigurationException;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a request. Immutable.
 *
 * @param name the name in the audit: 1 to 255 readable characters
 * @param tenant the only tenant that the operator sees and changes; null for all
 */
public record Operator(String name, Role role, @Nullable String tenant) {

    private static final int LONGEST_TENANT = 255;

    /** @throws InvalidConfigurationException when the name or the tenant is not valid */
    public Operator {
        Change.by(name);
        if (tenant != null && (tenant.isBlank() || tenant.length() > LONGEST_TENANT)) {
            throw new InvalidConfigurationException(
                    "tenant", "must have 1 to " + LONGEST_TENANT + " characters that are not all blank");
        }
    }

    /** Returns an operator of all tenants. */
    public static Operator of(String name, Role role) {
        return new Operator(name, role, null);
    }

    /** Returns this operator, limited to one tenant. */
    public Operator inTenant(String tenant) {
        return new Operator(name, role, tenant);
    }
}
