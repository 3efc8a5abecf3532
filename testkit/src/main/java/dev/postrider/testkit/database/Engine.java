package dev.postrider.testkit.database;

/** The databases that Postrider is tested against. */
public enum Engine {
    POSTGRESQL_15("PostgreSQL 15", true),
    POSTGRESQL_18("PostgreSQL 18", true),
    MARIADB_11_4("MariaDB 11.4", true),
    MYSQL_8_0("MySQL 8.0", true),
    H2("H2", false);

    private final String displayName;
    private final boolean crashable;

    Engine(String displayName, boolean crashable) {
        this.displayName = displayName;
        this.crashable = crashable;
    }

    /** The usual name with the version, such as {@code MySQL 8.0}. */
    public String displayName() {
        return displayName;
    }

    /**
     * Whether the engine runs as a separate process that can be killed and restarted. H2 runs in the memory of this JVM and cannot be
     * crashed.
     */
    public boolean isCrashable() {
        return crashable;
    }
}
