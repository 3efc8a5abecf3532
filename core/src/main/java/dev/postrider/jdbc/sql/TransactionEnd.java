package dev.postrider.jdbc.sql;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Judges by its text whether SQL of user code ends the transaction. It judges only what is clear: a text with one statement by its first
 * words, and several statements if they contain no quotes and no comments. Every other text that could hide an end is unclear: it is run,
 * and the transaction is proved at the server after it (decision 36). It is no parser, so a difference between two databases in quoting
 * or in comments cannot mislead it.
 */
final class TransactionEnd {

    /** The effect of a text on the transaction. */
    enum Effect {
        NONE,
        UNCLEAR,
        END
    }

    /** The statements that a database commits without COMMIT. */
    enum ImplicitCommits {
        NONE,
        /** MySQL, MariaDB: most DDL, and each procedure can contain a COMMIT. */
        DDL,
        /** H2: also for a temporary table that is not {@code TRANSACTIONAL}. */
        DDL_AND_TEMPORARY_TABLES
    }

    private static final Set<String> HARMLESS = Set.of(
            "DELETE",
            "DESC",
            "DESCRIBE",
            "DO",
            "EXPLAIN",
            "INSERT",
            "MERGE",
            "RELEASE",
            "REPLACE",
            "SAVEPOINT",
            "SELECT",
            "SHOW",
            "TABLE",
            "UPDATE",
            "USE",
            "VALUES",
            "WITH");

    /** MySQL, MariaDB and H2 commit before these statements. */
    private static final Set<String> COMMITS_BEFORE = Set.of(
            "ALTER",
            "ANALYZE",
            "CACHE",
            "CHECK",
            "COMMENT",
            "CREATE",
            "DROP",
            "FLUSH",
            "GRANT",
            "INSTALL",
            "LOCK",
            "OPTIMIZE",
            "RENAME",
            "REPAIR",
            "RESET",
            "REVOKE",
            "TRUNCATE",
            "UNINSTALL",
            "UNLOCK");

    /** Without nested comments, which only PostgreSQL has, and without the comments that MySQL and MariaDB run. */
    private static final String COMMENT = "/\\*(?![!M+])[^*/]*+\\*/";

    private static final String GAP = "(?:\\s|" + COMMENT + ")++";

    private static final Pattern BLANK = Pattern.compile("(?:\\s|" + COMMENT + "|--[^\\r\\n]*+\\n)*+");

    private static final Pattern FIRST_WORD = Pattern.compile("[A-Za-z_]++");

    /** On PostgreSQL a hidden end needs one of these words. A version number may stand directly before it. */
    private static final Pattern END_WORD =
            pattern("(?<![A-Za-z_])(?:COMMIT|ROLLBACK|ABORT|END|BEGIN|START|PREPARE)(?![A-Za-z0-9_])");

    private static final Pattern TO_SAVEPOINT = pattern("ROLLBACK" + GAP + "(?:(?:WORK|TRANSACTION)" + GAP + ")?TO\\b");

    private static final Pattern BEGIN_BLOCK = pattern("BEGIN" + GAP + "NOT\\b");

    private static final Pattern PREPARED_TRANSACTION = pattern("PREPARE" + GAP + "TRANSACTION\\b");

    private static final Pattern AUTOCOMMIT_ON = pattern(
            "SET\\s+(?:(?:SESSION|LOCAL)\\s+|@@(?:(?:SESSION|LOCAL)\\.)?)?[`\"]?AUTOCOMMIT[`\"]?\\s*(?:=|:=|\\s)\\s*(?:1|ON|TRUE)\\b");

    private static final Pattern TEMPORARY_TABLE = pattern(
            "(?:CREATE|DROP)\\s+(?:OR\\s+REPLACE\\s+)?(?:(?:GLOBAL|LOCAL|CACHED|MEMORY)\\s+)*TEMP(?:ORARY)?\\b");

    private static final Pattern TRANSACTIONAL = pattern("\\bTRANSACTIONAL\\b");

    private static final Pattern ANALYZE_TABLE = pattern("ANALYZE\\s+(?:(?:LOCAL|NO_WRITE_TO_BINLOG)\\s+)?TABLES?\\b");

    private static final Pattern LOCK_INSTANCE = pattern("(?:LOCK|UNLOCK)\\s+INSTANCE\\b");

    private static final Pattern XA_RECOVER = pattern("XA\\s+RECOVER\\b");

    private final ImplicitCommits commits;

    private TransactionEnd(ImplicitCommits commits) {
        this.commits = commits;
    }

    private static Pattern pattern(String regex) {
        return Pattern.compile(regex, Pattern.CASE_INSENSITIVE);
    }

    static Effect of(String sql, ImplicitCommits commits) {
        String text = withoutEnd(withoutBeginning(sql));
        Effect effect = new TransactionEnd(commits).ofText(text);
        return effect == Effect.UNCLEAR && !canHideAnEnd(text, commits) ? Effect.NONE : effect;
    }

    private static boolean canHideAnEnd(String text, ImplicitCommits commits) {
        return commits != ImplicitCommits.NONE || END_WORD.matcher(text).find();
    }

    private Effect ofText(String text) {
        if (text.indexOf(';') < 0) {
            return text.isEmpty() ? Effect.NONE : ofStatement(text);
        }
        return isPlain(text) ? ofStatements(text.split(";")) : Effect.UNCLEAR;
    }

    /** Whether each semicolon of the text certainly separates two statements, or two parts of a block. */
    private static boolean isPlain(String text) {
        return text.chars().noneMatch(c -> "'\"`$#\\".indexOf(c) >= 0)
                && !text.contains("--")
                && !text.contains("/*")
                && !text.contains("//");
    }

    /** A statement that is not known may be the beginning of a block, and the following parts belong to the block. */
    private Effect ofStatements(String[] statements) {
        for (String part : statements) {
            String statement = part.strip();
            if (statement.isEmpty()) {
                continue;
            }
            Effect effect = ofStatement(statement);
            if (effect != Effect.NONE || !HARMLESS.contains(firstWord(statement))) {
                return effect == Effect.END ? Effect.END : Effect.UNCLEAR;
            }
        }
        return Effect.NONE;
    }

    private Effect ofStatement(String statement) {
        String first = firstWord(statement);
        if (first.isEmpty()) {
            return statement.charAt(0) == '(' ? Effect.NONE : Effect.UNCLEAR;
        }
        return switch (first) {
            case "COMMIT", "ABORT", "END", "START" -> Effect.END;
            case "BEGIN" -> unclearIf(BEGIN_BLOCK, statement);
            case "ROLLBACK" -> TO_SAVEPOINT.matcher(statement).lookingAt() ? Effect.NONE : Effect.END;
            case "PREPARE" -> PREPARED_TRANSACTION.matcher(statement).lookingAt() ? Effect.END : Effect.UNCLEAR;
            default ->
                HARMLESS.contains(first) || commits == ImplicitCommits.NONE ? Effect.NONE : other(first, statement);
        };
    }

    /** A statement of MySQL, MariaDB or H2, which may commit by itself, as a procedure with COMMIT does. */
    private Effect other(String first, String statement) {
        return switch (first) {
            case "SET" -> AUTOCOMMIT_ON.matcher(statement).lookingAt() ? Effect.END : Effect.UNCLEAR;
            case "XA" -> unclearIf(XA_RECOVER, statement);
            case "ANALYZE" -> ANALYZE_TABLE.matcher(statement).lookingAt() ? Effect.END : Effect.UNCLEAR;
            case "LOCK", "UNLOCK" -> unclearIf(LOCK_INSTANCE, statement);
            case "CREATE", "DROP" -> isRolledBack(statement) ? Effect.UNCLEAR : Effect.END;
            default -> COMMITS_BEFORE.contains(first) ? Effect.END : Effect.UNCLEAR;
        };
    }

    private boolean isRolledBack(String statement) {
        return TEMPORARY_TABLE.matcher(statement).lookingAt()
                && (commits == ImplicitCommits.DDL
                        || TRANSACTIONAL.matcher(statement).find());
    }

    private static Effect unclearIf(Pattern pattern, String statement) {
        return pattern.matcher(statement).lookingAt() ? Effect.UNCLEAR : Effect.END;
    }

    private static String firstWord(String statement) {
        Matcher word = FIRST_WORD.matcher(statement);
        return word.lookingAt() ? word.group().toUpperCase(Locale.ROOT) : "";
    }

    private static String withoutBeginning(String sql) {
        Matcher blank = BLANK.matcher(sql);
        return blank.lookingAt() ? sql.substring(blank.end()) : sql;
    }

    private static String withoutEnd(String sql) {
        int end = sql.length();
        while (end > 0 && (sql.charAt(end - 1) == ';' || Character.isWhitespace(sql.charAt(end - 1)))) {
            end--;
        }
        return sql.substring(0, end);
    }
}
