package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The built-in drivers, against a server that accepts connections and never answers. */
final class LimitedLoginTest {

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    @Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void loginThatIsNotAnsweredIsGivenUp(String driver) throws IOException {
        // The system accepts for a server that does not.
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String url = "jdbc:" + driver + "://127.0.0.1:" + silent.getLocalPort() + "/shop";

            assertThatThrownBy(() -> new LimitedLogin(new Login(url, "relay", "secret")).getConnection())
                    .isInstanceOf(SQLException.class);
        }
    }
}
