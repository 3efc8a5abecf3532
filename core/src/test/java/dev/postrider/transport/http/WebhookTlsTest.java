package dev.postrider.transport.http;

import static dev.postrider.transport.http.Deliveries.deliver;
import static dev.postrider.transport.http.Deliveries.errorOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.postrider.transport.DeliveryResult;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With TLS it is the certificate that keeps requests from going where the name does not belong. */
class WebhookTlsTest {

    private static final String PASSWORD = "changeit";

    @TempDir
    Path directory;

    private final AtomicInteger received = new AtomicInteger();

    @Test
    void aTrustedCertificateForTheHostIsAccepted() throws Exception {
        SSLContext context = contextWithCertificate("ip:127.0.0.1");

        assertThat(deliverTo(context, context)).isEqualTo(DeliveryResult.delivered());
        assertThat(received).hasValue(1);
    }

    @Test
    void anUnknownAuthorityIsRefusedBeforeAnythingIsSent() throws Exception {
        DeliveryResult result = deliverTo(contextWithCertificate("ip:127.0.0.1"), SSLContext.getDefault());

        assertThat(result).isInstanceOf(DeliveryResult.Failed.class);
        assertThat(errorOf(result)).contains("SSLHandshakeException");
        assertThat(received).hasValue(0);
    }

    @Test
    void aCertificateForAnotherHostIsRefusedBeforeAnythingIsSent() throws Exception {
        SSLContext context = contextWithCertificate("dns:hooks.example");

        assertThat(deliverTo(context, context)).isInstanceOf(DeliveryResult.Failed.class);
        assertThat(received).hasValue(0);
    }

    private DeliveryResult deliverTo(SSLContext theirs, SSLContext ours) throws Exception {
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(theirs));
        server.createContext("/", exchange -> {
            received.incrementAndGet();
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        try {
            URI uri = URI.create("https://127.0.0.1:" + server.getAddress().getPort() + "/");
            return deliver(Webhook.toInternal(uri).sslContext(ours));
        } finally {
            server.stop(0);
        }
    }

    /** A context that holds one self-signed certificate and trusts it alone. Made by the JDK's own tool. */
    private SSLContext contextWithCertificate(String subject) throws Exception {
        Path file = directory.resolve("keys.p12");
        Process keytool = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-J-Duser.language=en",
                        "-genkeypair",
                        "-alias",
                        "peer",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=peer",
                        "-ext",
                        "san=" + subject,
                        "-validity",
                        "10",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        PASSWORD))
                .redirectErrorStream(true)
                .start();
        String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(keytool.exitValue()).as(output).isZero();

        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("peer", keys.getCertificate("peer"));
        KeyManagerFactory keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keyManagers.init(keys, PASSWORD.toCharArray());
        TrustManagerFactory trustManagers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trustManagers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keyManagers.getKeyManagers(), trustManagers.getTrustManagers(), null);
        return context;
    }
}
