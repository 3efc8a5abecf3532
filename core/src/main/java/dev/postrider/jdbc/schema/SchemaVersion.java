package dev.postrider.jdbc.schema;

/** Compares the version of existing tables with that of this library while nodes run. */
public final class SchemaVersion {

    private SchemaVersion() {}

    /**
     * Returns why this library cannot work with the tables, or an empty text.
     *
     * @param minCompatible the oldest library, by the schema version it has, that works with the tables; 0 for none
     */
    public static String problem(int minCompatible) {
        if (minCompatible == 0) {
            return "the table of schema versions is empty";
        }
        return minCompatible > Migrator.CURRENT
                ? "the tables need a library for schema version " + minCompatible + " or later, and this one is for "
                        + Migrator.CURRENT
                : "";
    }
}
