package dev.postrider.jdbc.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Finds statements that end the transaction in the SQL text of user code. It reads the first words of each statement and skips comments
 * and quoted text. It is a safety net against mistakes, not a parser: a procedure of the database can still end the transaction, which
 * the unit of work notices before its commit.
 */
final class TransactionEnd {

    private static final int MOST_WORDS = 64;

    private static final Set<String> ENDS = Set.of("COMMIT", "ABORT", "END", "XA");

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
            "START",
            "TRUNCATE",
            "UNINSTALL",
            "UNLOCK");

    private final String sql;
    private final List<String> words = new ArrayList<>();
    private int at;

    private TransactionEnd(String sql) {
        this.sql = sql;
    }

    /** @param implicitCommits whether the database commits before DDL */
    static boolean isIn(String sql, boolean implicitCommits) {
        return new TransactionEnd(sql).find(implicitCommits);
    }

    private boolean find(boolean implicitCommits) {
        while (at < sql.length()) {
            boolean complete = readStatement();
            if (ends() || (implicitCommits && commitsBefore())) {
                return true;
            }
            boolean hasBody = first("CREATE") || first("BEGIN"); // semicolons inside do not end the statement
            if (hasBody || !complete) {
                return false;
            }
        }
        return false;
    }

    private boolean ends() {
        if (words.isEmpty()) {
            return false;
        }
        return switch (words.get(0)) {
            case "BEGIN" -> !second("NOT");
            case "START", "PREPARE" -> second("TRANSACTION");
            case "ROLLBACK" ->
                !(second("TO") || (words.size() > 2 && words.get(2).equals("TO")));
            case "SET" ->
                words.stream()
                        .anyMatch(word -> word.equals("AUTOCOMMIT")
                                || word.endsWith(".AUTOCOMMIT")
                                || word.equals("@@AUTOCOMMIT"));
            default -> ENDS.contains(words.get(0));
        };
    }

    private boolean commitsBefore() {
        return !words.isEmpty() && COMMITS_BEFORE.contains(words.get(0)) && !second("TEMPORARY");
    }

    private boolean first(String word) {
        return !words.isEmpty() && words.get(0).equals(word);
    }

    private boolean second(String word) {
        return words.size() > 1 && words.get(1).equals(word);
    }

    /** @return false when it is unclear where the statement ends */
    private boolean readStatement() {
        words.clear();
        while (at < sql.length()) {
            char c = sql.charAt(at);
            if (c == ';') {
                at++;
                return true;
            }
            if (sql.startsWith("--", at) || (c == '#' && words.isEmpty())) {
                skipTo("\n");
            } else if (sql.startsWith("/*!", at) || sql.startsWith("/*M!", at)) {
                skipVersion(); // MySQL and MariaDB run the text of such a comment
            } else if (sql.startsWith("/*", at)) {
                at += 2;
                skipTo("*/");
            } else if (c == '\'' || c == '"' || c == '`') {
                if (!skipQuoted(c)) {
                    return false;
                }
            } else if (c == '$') {
                skipDollarQuoted();
            } else if (isWord(c)) {
                readWord();
            } else {
                at++;
            }
        }
        return true;
    }

    private void readWord() {
        int begin = at;
        while (at < sql.length() && (isWord(sql.charAt(at)) || sql.charAt(at) == '$')) {
            at++;
        }
        if (words.size() < MOST_WORDS) {
            words.add(sql.substring(begin, at).toUpperCase(Locale.ROOT));
        }
    }

    private static boolean isWord(char c) {
        return Character.isLetterOrDigit(c) || c == '_' || c == '@' || c == '.';
    }

    private void skipTo(String end) {
        int found = sql.indexOf(end, at);
        at = found < 0 ? sql.length() : found + end.length();
    }

    private void skipVersion() {
        at = sql.indexOf('!', at) + 1;
        while (at < sql.length() && Character.isDigit(sql.charAt(at))) {
            at++;
        }
    }

    /** Whether a backslash escapes a quote depends on the database and its settings. */
    private boolean skipQuoted(char quote) {
        int end = sql.indexOf(quote, at + 1);
        boolean isClear = end < 0 || sql.charAt(end - 1) != '\\';
        at = end < 0 ? sql.length() : end + 1;
        return isClear;
    }

    private void skipDollarQuoted() {
        int end = at + 1;
        while (end < sql.length() && isWord(sql.charAt(end))) {
            end++;
        }
        if (end < sql.length() && sql.charAt(end) == '$') {
            String tag = sql.substring(at, end + 1);
            at = end + 1;
            skipTo(tag);
        } else {
            at++;
        }
    }
}
