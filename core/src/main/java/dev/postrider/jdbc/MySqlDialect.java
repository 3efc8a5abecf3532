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
