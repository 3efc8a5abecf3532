package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.encryption.AesGcmPayloadCipher;
import dev.postrider.encryption.PayloadCipher;
import dev.postrider.message.Message;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Consumer;

/** A topic whose payloads the database never has in clear text, and a change of its key. */
public final class EncryptedPayloads {

    private EncryptedPayloads() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws SQLException {
        byte[] oldKey = newKey();
        byte[] newKey = newKey();
        Postrider postrider = open(shop, AesGcmPayloadCipher.with("2026-05", oldKey), say);
        postrider.migrate();
        Message payment = payment("4111 1111");
        postrider.inTransaction(work -> work.stage(payment));
        say.accept("the view shows: " + first(shop, "SELECT payload FROM postrider_message_text"));
        say.accept("an operator sees: "
                + postrider
                        .admin()
                        .find(payment.id())
                        .orElseThrow()
                        .message()
                        .payload()
                        .asText());

        // After the change, a node writes with the new key and still reads with the old one.
        Postrider changed =
                open(shop, AesGcmPayloadCipher.with("2026-11", newKey).reading("2026-05", oldKey), say);
        changed.inTransaction(work -> work.stage(payment("5555 5555")));
        changed.deliverDue();
    }

    private static Postrider open(Shop shop, PayloadCipher cipher, Consumer<String> say) {
        return Postrider.on(shop.dataSource())
                .topic(
                        "payments",
                        topic -> topic.encryptPayloads(cipher)
                                .deliver(delivery -> say.accept("delivered "
                                        + delivery.message().payload().asText())))
                .build();
    }

    private static Message payment(String card) {
        return Message.to("payments")
                .type("payment.made")
                .json("{\"card\": \"" + card + "\"}")
                .build();
    }

    /** An application gets its keys from a secret manager or the environment. */
    private static byte[] newKey() {
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        return key;
    }

    private static String first(Shop shop, String query) throws SQLException {
        try (Connection connection = shop.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }
}
