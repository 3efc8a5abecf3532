package dev.postrider.jdbc.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.jdbc.sql.TransactionEnd.Effect;
import dev.postrider.jdbc.sql.TransactionEnd.ImplicitCommits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TransactionEndTest {

    private static Effect onPostgres(String sql) {
        return TransactionEnd.of(sql, ImplicitCommits.NONE);
    }

    private static Effect onInnoDb(String sql) {
        return TransactionEnd.of(sql, ImplicitCommits.DDL);
    }

    private static Effect onH2(String sql) {
        return TransactionEnd.of(sql, ImplicitCommits.DDL_AND_TEMPORARY_TABLES);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "COMMIT",
                " commit work",
                "ROLLBACK",
                "rollback;",
                "rollback ; ; ",
                "/* end */ ROLLBACK WORK",
                "-- end\nABORT",
                "BEGIN",
                "START TRANSACTION",
                "START/**/TRANSACTION",
                "END",
                "PREPARE TRANSACTION 'x'",
                "; COMMIT",
                "SELECT 1; COMMIT",
                "ROLLBACK /* to */",
                "ROLLBACK AND CHAIN"
            })
    void clearEndIsRefusedEverywhere(String sql) {
        assertThat(onPostgres(sql)).isEqualTo(Effect.END);
        assertThat(onInnoDb(sql)).isEqualTo(Effect.END);
        assertThat(onH2(sql)).isEqualTo(Effect.END);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ROLLBACK TO SAVEPOINT a",
                "ROLLBACK WORK TO a",
                "ROLLBACK /* c */ TO SAVEPOINT x",
                "SELECT 'COMMIT'",
                "INSERT INTO commits VALUES (1)",
                "SELECT CASE a WHEN 1 THEN 2 END FROM b -- and then commit",
                "SELECT 'it''s' || \"a\" FROM b;",
                "/* a comment of a framework: END */ SELECT 1",
                "(SELECT 1)",
                "SELECT a # b FROM c",
                "SELECT 1; UPDATE a SET b = 1",
                ""
            })
    void ordinaryStatementCostsNothing(String sql) {
        assertThat(onPostgres(sql)).isEqualTo(Effect.NONE);
        assertThat(onInnoDb(sql)).isEqualTo(Effect.NONE);
        assertThat(onH2(sql)).isEqualTo(Effect.NONE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SET my.autocommit = 'x'",
                "SET search_path = app",
                "TRUNCATE letter",
                "CREATE TABLE a (id INT)",
                "CREATE TEMP TABLE a (id INT)",
                "ANALYZE a",
                "CALL p()",
                "SELECT ';'",
                "SELECT 'a;b', 'c'"
            })
    void statementThatPostgresRollsBackCostsNothingThere(String sql) {
        assertThat(onPostgres(sql)).isEqualTo(Effect.NONE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE TEMP TABLE a (id INT); COMMIT",
                "SELECT 'a\\'; COMMIT",
                "SELECT 1; -- x\rCOMMIT",
                "/* a /* b */ commit */ SELECT 1",
                "SELECT ';' ; /* ; */ ROLLBACK",
                "SELECT $a$ ; $a$; END",
                "DO $$ BEGIN PERFORM 1; END $$",
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END",
                "BEGIN NOT ATOMIC SELECT 1; END",
                "/*!50000COMMIT*/",
                "/*!50000 ROLLBACK */",
                "# x\nCOMMIT",
                "// x\nCOMMIT"
            })
    void textThatCouldHideAnEndIsUnclear(String sql) {
        assertThat(onPostgres(sql)).isEqualTo(Effect.UNCLEAR);
        assertThat(onInnoDb(sql)).isNotEqualTo(Effect.NONE);
        assertThat(onH2(sql)).isNotEqualTo(Effect.NONE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 1 # x; COMMIT later",
                "SELECT 1 // x; COMMIT",
                "SET @old = @@autocommit",
                "SET autocommit = 0",
                "SET STATEMENT max_statement_time = 1 FOR COMMIT",
                "SET sql_mode = '', autocommit = 1",
                "XA RECOVER",
                "ANALYZE SELECT 1",
                "ANALYZE FORMAT=JSON SELECT 1",
                "CREATE OR REPLACE TEMPORARY TABLE a (id INT)",
                "CREATE TEMPORARY TABLE a (id INT)",
                "DROP TEMPORARY TABLE a",
                "LOCK INSTANCE FOR BACKUP",
                "IF 1 THEN SELECT 1; END IF",
                "FOR i IN 1..2 DO SELECT 1; END FOR",
                "CALL p()",
                "{call p()}",
                "{? = call f()}",
                "EXECUTE s",
                "EXECUTE IMMEDIATE 'COMMIT'",
                "PREPARE s FROM 'COMMIT'"
            })
    void textThatMayCommitByItselfIsUnclearOnMySqlAndMariaDb(String sql) {
        assertThat(onInnoDb(sql)).isEqualTo(Effect.UNCLEAR);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE LOCAL TEMPORARY TABLE a (id INT) TRANSACTIONAL",
                "CALL commits()",
                "SET CACHE_SIZE 1000",
                "SELECT 1 // x; COMMIT"
            })
    void textThatMayCommitByItselfIsUnclearOnH2(String sql) {
        assertThat(onH2(sql)).isEqualTo(Effect.UNCLEAR);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TRUNCATE TABLE letter",
                "create table a (id int)",
                "SELECT 1; DROP TABLE a",
                "LOCK TABLES a WRITE",
                "ANALYZE TABLE a",
                "SET autocommit = 1",
                "SET `autocommit`=1",
                "SET \"autocommit\" = ON",
                "SET @@session.autocommit=1",
                "SET LOCAL autocommit = 1",
                "SET @@local.autocommit := TRUE",
                "XA COMMIT 'x'"
            })
    void ddlEndsTheTransactionWhereTheDatabaseCommitsBeforeIt(String sql) {
        assertThat(onInnoDb(sql)).isEqualTo(Effect.END);
        assertThat(onPostgres(sql)).isEqualTo(Effect.NONE);
    }

    @Test
    void temporaryTableEndsTheTransactionOnH2UnlessItIsTransactional() {
        assertThat(onH2("CREATE TEMPORARY TABLE a (id INT)")).isEqualTo(Effect.END);
        assertThat(onH2("CREATE LOCAL TEMPORARY TABLE a (id INT) NOT PERSISTENT"))
                .isEqualTo(Effect.END);
    }

    @ParameterizedTest
    @EnumSource(ImplicitCommits.class)
    void longWhiteSpaceNeedsNoStack(ImplicitCommits commits) {
        assertThat(TransactionEnd.of(" ".repeat(100_000) + "COMMIT", commits)).isEqualTo(Effect.END);
        assertThat(TransactionEnd.of("/* x */\n".repeat(100_000) + "COMMIT", commits))
                .isEqualTo(Effect.END);
        assertThat(TransactionEnd.of("ROLLBACK" + " ".repeat(100_000) + "TO a", commits))
                .isEqualTo(Effect.NONE);
    }
}
