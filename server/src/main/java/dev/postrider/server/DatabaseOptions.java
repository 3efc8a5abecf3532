package dev.postrider.server;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.event.EventListener;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.server.api.AdminClient;
import dev.postrider.server.cli.Access;
import dev.postrider.server.cli.CommandFailure;
import dev.postrider.server.cli.JdbcBackend;
import dev.postrider.store.TableOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options that select a database, or an admin API in its place, for every command that uses one. */
final class DatabaseOptions implements Access {

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

    @Option(
            names = "--api",
            paramLabel = "URL",
            description = "In place of a database: the admin API of a relay, such as http://localhost:8081.")
    private @Nullable URI api;

    @Option(
            names = "--token-env",
            paramLabel = "NAME",
            description = "Environment variable that holds the token for --api.")
    private @Nullable String tokenVariable;

    @Option(names = "--token-file", paramLabel = "FILE", description = "File that holds the token for --api.")
    private @Nullable String tokenFile;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command = CommandSpec.create();

    @Override
    public int admin(AdminWork work) {
        if (api != null) {
            if (config != null || isByOptions()) {
                throw CommandFailure.usage("--api and a database are both given: keep one");
            }
            return work.on(new AdminClient(api, secret("--token-env", tokenVariable, "--token-file", tokenFile)));
        }
        return database(database -> {
            database.check();
            return work.on(new JdbcBackend(database.admin()));
        });
    }

    @Override
    public int database(DatabaseWork work) {
        if (api != null) {
            throw CommandFailure.usage("This needs the database itself: give --db in place of --api");
        }
        if (tokenVariable != null || tokenFile != null) {
            throw CommandFailure.usage("--token-env and --token-file go with --api");
        }
        Logging.configure(Main.isVerbose(command.commandLine()) ? "debug" : "warn");
        RelayConfig file = config == null ? null : RelayConfig.load(config, System::getenv);
        Login login = file == null ? login() : file.login();
        TableOptions tables = file == null ? tables() : file.tables();
        requireOneSource();
        try (HikariDataSource pool = new Connecting(login, 1).now()) {
            return work.on(JdbcDatabase.open(pool, tables, STATEMENT_TIMEOUT, UNHEARD));
        }
    }

    private void requireOneSource() {
        if (config != null && isByOptions()) {
            throw CommandFailure.usage("--config names the database already: leave the other options out");
        }
    }

    private boolean isByOptions() {
        return url != null
                || user != null
                || passwordVariable != null
                || passwordFile != null
                || schema != null
                || tablePrefix != null;
    }

    private Login login() {
        if (url == null) {
            throw CommandFailure.usage("Which database? Give --db URL, --config FILE or --api URL");
        }
        return new Login(url, user, secret("--password-env", passwordVariable, "--password-file", passwordFile));
    }

    /** Reads a secret from the one of two places that is given; null if none is. */
    private static @Nullable String secret(
            String variableOption, @Nullable String variable, String fileOption, @Nullable String file) {
        if (variable != null && file != null) {
            throw CommandFailure.usage(variableOption + " and " + fileOption + " are both given: keep one");
        }
        if (file != null) {
            return Passwords.read(fileOption, file);
        }
        return variable == null ? null : fromEnvironment(variableOption, variable);
    }

    private static String fromEnvironment(String option, String variable) {
        String value = System.getenv(variable);
        if (value == null) {
            throw CommandFailure.usage(option + " names the environment variable " + variable + ", which is not set");
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
