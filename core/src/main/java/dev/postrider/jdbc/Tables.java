package dev.postrider.jdbc;

/** Turns the table names in a statement, written {@code {message}}, into the ones of this installation. */
final class Tables {

    private final String qualifiedPrefix;
    private final String barePrefix;

    /** @param quote how the database quotes an identifier; the schema may be a reserved word, our own names never are */
    Tables(JdbcOptions options, String quote) {
        barePrefix = options.tablePrefix();
        qualifiedPrefix = options.schema() == null ? barePrefix : quote + options.schema() + quote + "." + barePrefix;
    }

    /** A statement of a dialect: {@code {message}} becomes the name of the message table, and so on. */
    String sql(String statement) {
        return statement.replaceAll("\\{([a-z_]+)}", java.util.regex.Matcher.quoteReplacement(qualifiedPrefix) + "$1");
    }

    /** A schema file, with the placeholders that Flyway would replace too. */
    String ddl(String script) {
        return script.replace("${tables}", qualifiedPrefix).replace("${prefix}", barePrefix);
    }

    String bare(String table) {
        return barePrefix + table;
    }

    String qualified(String table) {
        return qualifiedPrefix + table;
    }
}
