package dev.postrider.jdbc.sql;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TransactionEndTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "COMMIT",
                " commit work",
                "ROLLBACK",
                "rollback;",
                "/* end */ ROLLBACK WORK",
                "-- end\nABORT",
                "BEGIN",
                "START TRANSACTION",
                "END",
                "SET autocommit = 1",
                "SET @@session.autocommit=1",
                "PREPARE TRANSACTION 'x'",
                "; COMMIT",
                "SELECT 1; COMMIT",
                "SELECT ';' ; /* ; */ ROLLBACK",
                "/*!50000 ROLLBACK */",
                "SET LOCAL autocommit = 1",
                "SET @@local.autocommit = 1",
                "SET sql_mode = '', autocommit = 1",
                "SELECT $a$ ; $a$; END"
            })
    void statementThatEndsTheTransactionIsRecognised(String sql) {
        assertThat(TransactionEnd.isIn(sql, false)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ROLLBACK TO SAVEPOINT a",
                "ROLLBACK WORK TO a",
                "SELECT 'COMMIT'",
                "INSERT INTO commits VALUES (1)",
                "BEGIN NOT ATOMIC SELECT 1; END",
                "SET search_path = app",
                "ROLLBACK /* c */ TO SAVEPOINT x",
                "SELECT 'it''s; COMMIT'",
                "SELECT \"a;\" FROM b",
                "INSERT INTO letter VALUES ('it\\\\'s'); COMMIT",
                "DO $$ BEGIN PERFORM 1; END $$",
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END",
                "SELECT a # b FROM c",
                "TRUNCATE letter",
                "commits",
                ""
            })
    void otherStatementsAreNot(String sql) {
        assertThat(TransactionEnd.isIn(sql, false)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TRUNCATE TABLE letter",
                "create table a (id int)",
                "SELECT 1; DROP TABLE a",
                "LOCK TABLES a WRITE"
            })
    void ddlEndsTheTransactionWhereTheDatabaseCommitsBeforeIt(String sql) {
        assertThat(TransactionEnd.isIn(sql, true)).isTrue();
        assertThat(TransactionEnd.isIn(sql, false)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"CREATE TEMPORARY TABLE a (id int)", "INSERT INTO a VALUES (1)", "SELECT 'x'; UPDATE a SET b = 1"
            })
    void otherStatementsDoNotEndItThereEither(String sql) {
        assertThat(TransactionEnd.isIn(sql, true)).isFalse();
    }

    @Test
    void longWhiteSpaceNeedsNoStack() {
        assertThat(TransactionEnd.isIn(" ".repeat(100_000) + "COMMIT", false)).isTrue();
    }
}
