package dev.postrider.jdbc.schema;

import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** A table as the database describes it, names in lower case. Table names match exactly: an underscore is not a wildcard. */
record Catalog(boolean isTable, Map<String, String> columns, Set<String> indexes) {

    /**
     * The statements that read the description of a table. Each has two parameters: the schema and the table.
     *
     * @param table returns a row for a table, and none for a view
     * @param columns returns the name and the type of each column
     * @param indexes returns the name of each index
     */
    record Questions(String table, String columns, String indexes) {}

    /** @param schema the name as the database stores it; see {@link SchemaStatements#schemaOfTables} */
    static Catalog read(SqlRunner sql, Questions questions, Connection connection, String schema, String table)
            throws SQLException {
        SqlRunner.Bind names = binder -> binder.text(schema).text(table);
        return new Catalog(
                sql.query(connection, questions.table(), names, ResultSet::next),
                sql.query(connection, questions.columns(), names, Catalog::columns),
                sql.query(connection, questions.indexes(), names, Catalog::indexes));
    }

    private static Map<String, String> columns(ResultSet row) throws SQLException {
        Map<String, String> columns = new HashMap<>();
        while (row.next()) {
            columns.put(row.getString(1).toLowerCase(Locale.ROOT), row.getString(2));
        }
        return columns;
    }

    private static Set<String> indexes(ResultSet row) throws SQLException {
        Set<String> indexes = new TreeSet<>();
        while (row.next()) {
            indexes.add(row.getString(1).toLowerCase(Locale.ROOT));
        }
        return indexes;
    }
}
