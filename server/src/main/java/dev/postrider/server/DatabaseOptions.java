package dev.postrider.server;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.event.EventListener;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.store.TableOptions;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that select a database, for every command that uses one. */
final class DatabaseOptions {

    /** Short, because a person waits for the result. */
    private static final Duration STATEMENT_TIMEOUT = Duration.ofMinutes(1);

    private static final EventListener UNHEARD = event -> {};

    @Option(
            names = "--db",
            paramLabel = "URL",
            description = "JDBC URL, such as jdbc:postgresql://host:5432/name or jdbc:mariadb://host:3306/name.")
    private @Nullable String url;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Take database, schema and table prefix from the configuration file of the relay.")
    private @Nullable Path config;

    @Option(names = "--user", paramLabel = "NAME", description = "User name for the login.")
    private @Nullable String user;

    @Option(
            names = "--password-env",
            paramLabel = "NAME",
            description = "Environment variable that holds the password.")
    private @Nullable String passwordVariable;

    @Option(names = "--password-file", paramLabel = "FILE", description = "File that holds the password.")
    private @Nullable String passwordFile;

    @Option(
            names = "--schema",
            paramLabel = "NAME",
            description = "Schema of the tables; the connection's own by default.")
    private @Nullable String schema;

    @Option(
            names = "--table-prefix",
            paramLabel = "PREFIX",
            description = "Prefix of the table names; postrider_ by default.")
    private @Nullable String tablePrefix;

    /** The work of a command with the database. */
    @FunctionalInterface
    interface Action {
        int on(JdbcDatabase database);
    }

    int run(Action action) {
        RelayConfig file = config == null ? null : RelayConfig.load(config, System::getenv);
        Login login = file == null ? login() : file.login();
        TableOptions tables = file == null ? tables() : file.tables();
        requireOneSource();
        try (HikariDataSource pool = new Connecting(login, 1).now()) {
            return action.on(JdbcDatabase.open(pool, tables, STATEMENT_TIMEOUT, UNHEARD));
        }
    }

    private void requireOneSource() {
        boolean byOptions = url != null
                || user != null
                || passwordVariable != null
                || passwordFile != null
                || schema != null
                || tablePrefix != null;
        if (config != null && byOptions) {
            throw CommandFailure.usage("--config names the database already: leave the other options out");
        }
    }

    private Login login() {
        if (url == null) {
            throw CommandFailure.usage("Which database? Give --db URL, or --config FILE");
        }
        return new Login(url, user, password());
    }

    private @Nullable String password() {
        if (passwordVariable != null && passwordFile != null) {
            throw CommandFailure.usage("--password-env and --password-file are both given: keep one");
        }
        if (passwordFile != null) {
            return Passwords.read("--password-file", passwordFile);
        }
        return passwordVariable == null ? null : fromEnvironment(passwordVariable);
    }

    private static String fromEnvironment(String variable) {
        String value = System.getenv(variable);
        if (value == null) {
            throw CommandFailure.usage(
                    "--password-env names the environment variable " + variable + ", which is not set");
        }
        return value;
    }

    private TableOptions tables() {
        return TableOptions.defaults().with(tables -> {
            if (schema != null) {
                tables.schema(schema);
            }
            if (tablePrefix != null) {
                tables.tablePrefix(tablePrefix);
            }
        });
    }
}
