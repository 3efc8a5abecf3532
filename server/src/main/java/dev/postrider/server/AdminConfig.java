package dev.postrider.server;

import dev.postrider.admin.rest.BearerTokens;
import dev.postrider.admin.rest.Operator;
import dev.postrider.admin.rest.Role;
import dev.postrider.error.InvalidConfigurationException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The properties of the admin API in a configuration file. */
final class AdminConfig {

    static final String ADMIN_PORT = "admin-port";
    static final String OPERATOR = "admin.operator.";

    private static final String ADMIN_HOST = "admin-host";

    /** Which role sees payloads. */
    private enum PayloadsFor {
        NONE,
        VIEWER,
        OPERATOR,
        ADMIN
    }

    static final Group<AdminConfig> GROUP = new Group<AdminConfig>()
            .with(ADMIN_PORT, (config, value) -> config.port(value.integer()))
            .with(ADMIN_HOST, (config, value) -> config.host = value.text())
            .with("admin-read-only", (config, value) -> config.readOnly = value.flag())
            .with("admin-payloads", (config, value) -> config.payloads = value.oneOf(PayloadsFor.class));

    /** The properties of one operator. */
    static final Group<OperatorSettings> OPERATORS = new Group<OperatorSettings>()
            .with("token", (operator, value) -> operator.token = value)
            .with("token-file", (operator, value) -> operator.tokenFile = value)
            .with("role", (operator, value) -> operator.role = value.oneOf(Role.class))
            .with("tenant", (operator, value) -> operator.tenant = value.text());

    /** The settings of one operator, as the file has them. */
    static final class OperatorSettings {

        private @Nullable Value token;
        private @Nullable Value tokenFile;
        private Role role = Role.VIEWER;
        private @Nullable String tenant;
    }

    private @Nullable Integer port;
    private @Nullable String host;
    private boolean readOnly;
    private PayloadsFor payloads = PayloadsFor.NONE;
    private final Map<String, OperatorSettings> operators = new TreeMap<>();
    private BearerTokens tokens = BearerTokens.none();

    /** Sets the port; 0 for a free one. */
    void port(int port) {
        if (port < 0 || port > 65_535) {
            throw new InvalidConfigurationException(ADMIN_PORT, "must be 0 (any free port) to 65535, but is " + port);
        }
        this.port = port;
    }

    /** Applies a property of an operator. Returns false if the name is no such property. */
    boolean setOperator(String name, Value value) {
        int dot = name.lastIndexOf('.');
        if (!name.startsWith(OPERATOR) || dot <= OPERATOR.length()) {
            return false;
        }
        String setting = name.substring(dot + 1);
        return OPERATORS.names().contains(setting)
                && OPERATORS.apply(
                        operators.computeIfAbsent(
                                name.substring(OPERATOR.length(), dot), key -> new OperatorSettings()),
                        setting,
                        value);
    }

    /** Checks the operators, and reads their tokens from their files. */
    void check() {
        operators.forEach((name, settings) -> {
            String property = OPERATOR + name;
            Operator operator;
            try {
                operator = new Operator(name, settings.role, settings.tenant);
            } catch (InvalidConfigurationException e) {
                throw new InvalidConfigurationException(property, "is not valid: " + e.getMessage());
            }
            String token = token(property, settings);
            try {
                tokens = tokens.with(token, operator);
            } catch (InvalidConfigurationException e) {
                throw new InvalidConfigurationException(property + ".token", Value.problem(e));
            }
        });
    }

    private static String token(String property, OperatorSettings settings) {
        Value token = settings.token;
        Value file = settings.tokenFile;
        if (token != null && file != null) {
            throw new InvalidConfigurationException(property + ".token", "and token-file are both given: keep one");
        }
        if (token != null) {
            return token.text();
        }
        if (file != null) {
            return Passwords.read(property + ".token-file", file.text()).strip();
        }
        throw new InvalidConfigurationException(
                property + ".token",
                "is missing: openssl rand -hex 32 makes one, and ${env:NAME} keeps it out of the file");
    }

    boolean isEnabled() {
        return port != null;
    }

    /**
     * Returns where the API is served: on the loopback interface unless told otherwise. Empty without a port.
     *
     * @throws InvalidConfigurationException when the address is not a loopback one and no operator has a token
     */
    Optional<InetSocketAddress> address() {
        if (port == null) {
            return Optional.empty();
        }
        InetSocketAddress address = host == null
                ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
                : new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new InvalidConfigurationException(ADMIN_HOST, "is not an address of this machine: " + host);
        }
        if (operators.isEmpty() && !address.getAddress().isLoopbackAddress()) {
            throw new InvalidConfigurationException(
                    ADMIN_HOST,
                    host + " can be reached from other machines, and there is no operator: set " + OPERATOR
                            + "<name>.token and .role, or leave " + ADMIN_HOST + " out");
        }
        return Optional.of(address);
    }

    /** Empty if there is no operator: then every program of this machine may do everything. */
    Optional<BearerTokens> tokens() {
        return operators.isEmpty() ? Optional.empty() : Optional.of(tokens);
    }

    boolean isReadOnly() {
        return readOnly;
    }

    /** Empty if no operator sees payloads. */
    Optional<Role> payloadsFor() {
        return payloads == PayloadsFor.NONE ? Optional.empty() : Optional.of(Role.valueOf(payloads.name()));
    }
}
