package dev.postrider.jdbc;

/** MySQL 8. */
final class MySqlDialect extends InnoDbDialect {

    MySqlDialect(Tables tables) {
        super(tables);
    }

    @Override
    boolean asksServerIfReadOnly() {
        return true;
    }

    /** FORCE INDEX has no effect here: MySQL scans a table of up to some hundred rows and locks every row of it. */
    @Override
    String deleteByKey() {
        return "DELETE /*+ INDEX(d PRIMARY) */ FROM {$1} AS d";
    }

    /** MySQL has no idle timeout for transactions only. Outside of transactions the session has its own value. */
    @Override
    String idleVariable() {
        return "wait_timeout";
    }

    @Override
    Dialect in(String schema) {
        return new MySqlDialect(tables().in(schema, "`"));
    }

    @Override
    String folder() {
        return "mysql";
    }
}
