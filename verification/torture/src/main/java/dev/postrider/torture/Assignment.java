package dev.postrider.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Engine;
import java.nio.file.Path;
import java.util.List;
import javax.sql.DataSource;

/**
 * The configuration of a child process. Immutable.
 *
 * @param number unique among the processes of the run
 * @param trouble whether some topics have handlers that hang and a destination that blocks
 * @param port the port of the receiver or of the feed; 0 for processes that connect to neither
 */
record Assignment(
        Engine engine, Database database, Path directory, int number, long seed, int port, Pace pace, boolean trouble) {

    static Assignment parse(String[] arguments) {
        return new Assignment(
                Engine.valueOf(arguments[0]),
                new Database(arguments[1], arguments[2], arguments[3], arguments[4]),
                Path.of(arguments[5]),
                Integer.parseInt(arguments[6]),
                Long.parseLong(arguments[7]),
                Integer.parseInt(arguments[8]),
                Pace.valueOf(arguments[9]),
                Boolean.parseBoolean(arguments[10]));
    }

    List<String> toArguments() {
        return List.of(
                engine.name(),
                database.name(),
                database.jdbcUrl(),
                database.user(),
                database.password(),
                directory.toString(),
                Integer.toString(number),
                Long.toString(seed),
                Integer.toString(port),
                pace.name(),
                Boolean.toString(trouble));
    }

    Journal journal(String kind) {
        return Journal.at(directory.resolve(kind + "-" + number + ".journal"));
    }

    /**
     * Creates a connection pool. In runs with faults the socket timeout is shorter than the lease, so that a node behind a dead
     * connection notices while its lease is valid. Every second process sends its statements as text each time, so that a proxy can
     * find a COMMIT among them. The other processes prepare statements on the server, as most applications do.
     */
    HikariDataSource pool(int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(timed((int) pace.answer().toSeconds()));
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(4000);
        config.setValidationTimeout(1000);
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }

    /** Connections without a socket timeout, for long waits such as LISTEN. */
    DataSource patient() {
        return new Database(database.name(), timed(0), database.user(), database.password()).dataSource();
    }

    private String timed(int seconds) {
        boolean postgres = engine == Engine.POSTGRESQL_18;
        int unit = postgres ? 1 : 1000;
        String url = database.jdbcUrl();
        return url + (url.contains("?") ? "&" : "?") + "connectTimeout=" + 2 * unit + "&socketTimeout=" + seconds * unit
                + (postgres && number % 2 == 1 ? "&prepareThreshold=0" : "");
    }
}
