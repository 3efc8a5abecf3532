package dev.postrider.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** One table as the driver describes it, in lower case. */
record Catalog(boolean isTable, Map<String, String> columns, Set<String> indexes) {

    static Catalog read(Connection connection, @Nullable String schema, String table) throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        boolean upper = metaData.storesUpperCaseIdentifiers();
        boolean mySql =
                metaData.getURL().startsWith("jdbc:mysql") || metaData.getURL().startsWith("jdbc:mariadb");
        String name = upper ? table.toUpperCase(Locale.ROOT) : table;
        String folded = schema != null && upper ? schema.toUpperCase(Locale.ROOT) : schema;
        String catalogName = mySql && folded != null ? folded : connection.getCatalog();
        String schemaName = mySql ? null : folded == null ? connection.getSchema() : folded;
        boolean isTable = false;
        try (ResultSet row = metaData.getTables(catalogName, schemaName, name, null)) {
            while (row.next()) {
                String type = row.getString("TABLE_TYPE");
                isTable |= type.endsWith("TABLE");
            }
        }
        Map<String, String> columns = new HashMap<>();
        try (ResultSet row = metaData.getColumns(catalogName, schemaName, name, null)) {
            while (row.next()) {
                columns.put(row.getString("COLUMN_NAME").toLowerCase(Locale.ROOT), row.getString("TYPE_NAME"));
            }
        }
        Set<String> indexes = new TreeSet<>();
        if (isTable) {
            try (ResultSet row = metaData.getIndexInfo(catalogName, schemaName, name, false, true)) {
                while (row.next()) {
                    String index = row.getString("INDEX_NAME");
                    if (index != null) {
                        indexes.add(index.toLowerCase(Locale.ROOT));
                    }
                }
            }
        }
        return new Catalog(isTable, columns, indexes);
    }
}
