package dev.postrider.examples;

import dev.postrider.message.Message;

/** Something of the application's own that others want to hear about. */
record Order(int id) {

    String toJson() {
        return "{\"order\": " + id + "}";
    }

    Message placed() {
        return Message.to("orders").type("order.placed").json(toJson()).build();
    }
}
