package dev.postrider.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ErrorTextTest {

    @Test
    void harmlessTextIsKept() {
        assertThat(ErrorText.clean("HTTP 503: zu viele Anfragen 😀", 2000)).isEqualTo("HTTP 503: zu viele Anfragen 😀");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\u0000", "\r\n", "\t", "\u0085", "\u009B", "\u007F", "\u2028", "\u2029", "\u202E", "\u2066", "\u061C"
            })
    void controlCharactersAndLineBreaksBecomeABlank(String control) {
        assertThat(ErrorText.clean("a" + control + "b", 2000)).isEqualTo("a b");
    }

    @Test
    void terminalEscapesGoAsAWhole() {
        assertThat(ErrorText.clean("\u001B[31;1mred\u001B[0m", 2000)).isEqualTo("red");
    }

    @Test
    void halfCharactersAreReplaced() {
        assertThat(ErrorText.clean("a\uD83Db", 2000)).isEqualTo("a?b");
        assertThat(ErrorText.clean("\uDE00", 2000)).isEqualTo("?");
    }

    @Test
    void textIsCutByCodePointsAndNeverThroughOne() {
        assertThat(ErrorText.clean("😀".repeat(30), 20)).isEqualTo("😀".repeat(20));
        assertThat(ErrorText.clean("x".repeat(50_000_000), 2000)).hasSize(2000);
        String odd = "x" + "😀".repeat(10_000);
        assertThat(ErrorText.clean(odd, 16_000)).endsWith("?").doesNotContain("\uFFFD");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "password=hunter2 for x|password=*** for x",
                "Password: hunter2|Password: ***",
                "api_key=abc&x=1|api_key=***&x=1",
                "apikey = abc, next|apikey = ***, next",
                "Authorization: Bearer abc.def|Authorization: ***",
                "authorization=Basic dXNlcjpw|authorization=***",
                "jdbc:postgresql://user:pw@host/db|jdbc:postgresql://***@host/db",
                "{\"password\":\"hunter2\",\"a\":1}|{\"password\":\"***\",\"a\":1}",
                "token expired|token expired",
                "GET /x?access_token=abc&x=1|GET /x?access_token=***&x=1",
                "client_secret=abc refused|client_secret=*** refused",
                "refresh_token: abc|refresh_token: ***",
                "db_password=abc|db_password=***",
                "dbPassword=abc|dbPassword=***",
                "jdbc:h2:mem:x;USER=sa;PWD=abc;MODE=x|jdbc:h2:mem:x;USER=sa;PWD=***;MODE=x",
                "X-Api-Key: abc|X-Api-Key: ***",
                "AWS_SECRET_ACCESS_KEY=abc|AWS_SECRET_ACCESS_KEY=***",
                "secretKey=abc|secretKey=***",
                "user=u pass=abc|user=u pass=***",
                "bypass: on|bypass: on",
                "{\"client_secret\":\"a b, c;\\\"d\",\"a\":1}|{\"client_secret\":\"***\",\"a\":1}",
                "\\\"client_secret\\\":\\\"a b\\\",x|\\\"client_secret\\\":\\\"***\\\",x",
                "{\"client_secret\": \"abc|{\"client_secret\": \"***",
                "sent Bearer abc.def-1 to x|sent Bearer *** to x",
                "Bearer abcdef|Bearer ***",
                "Bearer authentication failed|Bearer authentication failed",
                "the bearer token has expired|the bearer token has expired",
                "sent Basic dXNlcjpw to x|sent Basic *** to x",
                "Basic validation failed|Basic validation failed",
                "Authorization: token abc|Authorization: ***",
                "\"Authorization\":\"Bearer abc def\"}|\"Authorization\":\"***\"}",
                "Proxy-Authorization: Digest abc|Proxy-Authorization: ***",
                "key whsec_MfKQ9r8GKYqrTwjU+/== no|key whsec_*** no",
                "key whsk_MfKQ9r8GKYqrTwjU no|key whsk_*** no",
                "got eyJhbGciOiJI.eyJzdWIi.abc-_x here|got eyJ*** here",
                "https://user:p@ss@host/x|https://***@host/x",
                "https://user:p/ss@host/x|https://***@host/x",
                "https://host:8080/x/a@b|https://host:8080/x/a@b",
                "mail a@b.example of https://host/x|mail a@b.example of https://host/x",
            })
    void secretsAreRedacted(String text, String expected) {
        assertThat(ErrorText.clean(text, 2000)).isEqualTo(expected);
        assertThat(ErrorText.clean(expected, 2000)).isEqualTo(expected);
    }

    @Test
    void failureIsToldWithItsCauses() {
        Exception failure = new IllegalStateException("outer", new RuntimeException(new Error("inner")));

        assertThat(ErrorText.of(failure))
                .isEqualTo("java.lang.IllegalStateException: outer"
                        + "; caused by java.lang.RuntimeException: java.lang.Error: inner"
                        + "; caused by java.lang.Error: inner");
    }

    @Test
    void causesThatNeverEndAreCut() {
        Exception a = new Exception("a");
        a.initCause(new Exception("b", a));

        assertThat(ErrorText.of(a)).hasSizeLessThan(300);
    }

    @Test
    void exceptionWhoseMethodsThrowIsToldAsFarAsItGoes() {
        Exception hostile = new Exception() {
            @Override
            public String getMessage() {
                throw new UnsupportedOperationException();
            }
        };

        assertThat(ErrorText.of(hostile))
                .startsWith(hostile.getClass().getName())
                .endsWith("(the rest could not be read: java.lang.UnsupportedOperationException)");
    }

    @Test
    void fingerprintIsTheSameForErrorsThatDifferInNumbersAndIds() {
        String first = ErrorText.fingerprint("REJECTED", "order 17 of 01890a5d-ac96-774b-bcce-b302099a8057 gone");
        String second = ErrorText.fingerprint("REJECTED", "order 4711 of 01890a5d-ac96-7f00-8000-000000000000 gone");

        assertThat(first).isEqualTo(second).hasSize(16).matches("[0-9a-f]+");
        assertThat(ErrorText.fingerprint("ATTEMPTS_EXHAUSTED", "order 17 gone")).isNotEqualTo(first);
        assertThat(ErrorText.fingerprint("REJECTED", "order 17 late")).isNotEqualTo(first);
    }

    @Test
    void hostileTextDoesNotExhaustASmallStack() throws Exception {
        Callable<String> work = () -> {
            for (String hostile : new String[] {
                "password=\"" + "\\a".repeat(50_000),
                "password=" + "\\".repeat(50_000),
                "token".repeat(50_000),
                "Basic ".repeat(50_000),
                "://:a/".repeat(50_000),
                "eyJa.".repeat(50_000),
                "aaaaaaaa" + "-a".repeat(100_000),
                "1".repeat(100_000),
                "\u001B[".repeat(50_000),
                "://".repeat(50_000)
            }) {
                ErrorText.fingerprint("REJECTED", ErrorText.clean(hostile, 16_000));
                ErrorText.fingerprint("REJECTED", hostile);
            }
            return "done";
        };
        FutureTask<String> task = new FutureTask<>(work);
        new Thread(null, task, "small-stack", 200_000).start();

        assertThat(task.get()).isEqualTo("done");
    }
}
