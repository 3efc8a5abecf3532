package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class RedactionTest {

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
