package dev.postrider.examples;

import dev.postrider.message.Message;

/** An order: a record of the application, announced to other services by a message. */
record Order(int id) {

    String toJson() {
        return "{\"order\": " + id + "}";
    }

    Message placed() {
        return Message.to("orders").type("order.placed").json(toJson()).build();
    }
}
