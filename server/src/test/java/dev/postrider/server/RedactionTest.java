package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RedactionTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            jdbc:postgresql://db.example:5432/shop_1            | jdbc:postgresql://db.example:5432/shop_1
            jdbc:postgresql://a,b:1/shop?user=x&password=pw     | jdbc:postgresql://a,b:1/shop?***
            jdbc:mariadb://u:pw@[::1]:3306/shop                 | jdbc:mariadb://***@[::1]:3306/shop
            jdbc:postgresql://u:p/w@host/db                     | jdbc:postgresql://***
            jdbc:postgresql://u:1?w@host/db                     | jdbc:postgresql://***
            jdbc:postgresql://host/db?password=a@b              | jdbc:postgresql://***
            jdbc:h2:mem:x;PASSWORD=y                            | jdbc:h2:mem:x;***
            jdbc:h2:file:~/a/b                                  | jdbc:h2:file:~/a/b
            host/db?password=pw                                 | ***
            """)
    void urlIsShownByWhereItLeads(String url, String shown) {
        assertThat(Redaction.url(url)).isEqualTo(shown);
    }

    @Test
    void driversTextAboutAUrlLosesItsPasswords() {
        assertThat(Redaction.about("jdbc:x://u:hun/ter2@h/db", "bad port ter2 in jdbc:x://u:hun/ter2@h/db"))
                .isEqualTo("bad port *** in jdbc:x://***");
    }

    @Test
    void oneLineWithoutSecretsIsLeft() {
        assertThat(Redaction.line("a\n\tb\r\nc \u001b[31m")).isEqualTo("a b c [31m");
        assertThat(Redaction.line("to https://me:pw@host/x?a=1&api_token=pw&b=2"))
                .isEqualTo("to https://***@host/x?a=1&api_token=***&b=2");
        assertThat(Redaction.line("trustStorePassword=a,b;x=1")).isEqualTo("trustStorePassword=***;x=1");
        assertThat(Redaction.line("secret whsec_abc+/=")).isEqualTo("secret whsec_***");
        assertThat(Redaction.line("PASSWORD = I")).isEqualTo("PASSWORD = ***");
        assertThat(Redaction.line("mail@example.com stays")).isEqualTo("mail@example.com stays");
    }
}
