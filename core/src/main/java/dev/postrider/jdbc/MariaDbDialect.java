package dev.postrider.jdbc;

/** MariaDB; its schema differs from MySQL's in the collation that compares byte by byte. */
final class MariaDbDialect extends InnoDbDialect {

    MariaDbDialect(Tables tables) {
        super(tables);
    }

    @Override
    String folder() {
        return "mariadb";
    }
}
