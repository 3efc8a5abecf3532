package dev.postrider.examples;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.store.TableOptions.Archive;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Consumer;

/** A topic chooses what the archive keeps of its delivered messages, and from which size its payloads are compressed. */
public final class StorageOfATopic {

    private StorageOfATopic() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws SQLException {
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(delivery -> {}))
                .topic("clicks", topic -> topic.deliver(delivery -> {}).archive(Archive.OFF))
                .topic(
                        "catalogues",
                        topic -> topic.deliver(delivery -> say.accept("delivered "
                                        + delivery.message().payload().size() + " bytes"))
                                .archive(Archive.WITHOUT_PAYLOAD)
                                .compressPayloadsAbove(8000))
                .build();
        postrider.migrate();
        String catalogue = "[" + "\"a red bicycle\",".repeat(1000) + "\"a bell\"]";

        postrider.inTransaction(work -> {
            work.stage(new Order(1).placed());
            work.stage(Message.to("clicks").type("page.viewed").json("{}").build());
            work.stage(Message.to("catalogues")
                    .type("catalogue.changed")
                    .json(catalogue)
                    .build());
        });
        boolean small = Integer.parseInt(
                        first(shop, "SELECT OCTET_LENGTH(payload) FROM postrider_message WHERE topic = 'catalogues'"))
                < catalogue.length() / 10;
        say.accept("stored in less than a tenth: " + small);
        postrider.deliverDue();
        say.accept("archived: "
                + first(shop, "SELECT LISTAGG(topic, ', ') WITHIN GROUP (ORDER BY seq) FROM postrider_archive"));
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
