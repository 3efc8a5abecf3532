package dev.postrider.jdbc.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class UrlsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "jdbc:postgresql://host:5432/db|jdbc:postgresql://host:5432/db",
                "jdbc:postgresql://host/db?user=u&password=s3cr3t|jdbc:postgresql://host/db",
                "jdbc:h2:mem:x;USER=sa;PASSWORD=s3cr3t|jdbc:h2:mem:x",
                "jdbc:mysql://u:s3cr3t@host:3306/db?a=b|jdbc:mysql://***@host:3306/db",
                "jdbc:mysql://u:s3c@r3t@host/db|jdbc:mysql://***@host/db",
                "jdbc:mysql://u:s3c/r3t@host/db|jdbc:mysql://***@host/db",
                "jdbc:mysql://u:s3c/r3t@h1,u:s3cr3t@h2/db|jdbc:mysql://***@h2/db",
                "jdbc:mysql://address=(host=h)(password=s3cr3t)/db|jdbc:mysql://address=(host=h)(password=***",
                "jdbc:h2:file:/tmp/a@b|jdbc:h2:file:/tmp/a@b",
            })
    void addressHasNoCredentials(String url, String address) {
        assertThat(Urls.shown(Urls.address(url))).isEqualTo(address).doesNotContain("s3c", "r3t");
    }
}
