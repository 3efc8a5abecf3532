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

    @Override
    String folder() {
        return "mysql";
    }
}
