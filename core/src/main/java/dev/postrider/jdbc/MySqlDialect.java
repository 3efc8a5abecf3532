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

    /** FORCE INDEX is taken and has no effect here: a table of up to some hundred rows is scanned, and every row of it locked. */
    @Override
    String deleteByKey() {
        return "DELETE /*+ INDEX(d PRIMARY) */ FROM {$1} AS d";
    }

    /** There is none for transactions alone; the session has another value outside of them. */
    @Override
    String idleVariable() {
        return "wait_timeout";
    }

    @Override
    String folder() {
        return "mysql";
    }
}
