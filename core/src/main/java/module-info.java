/** The transactional outbox, the inbox and idempotent commands. Packages that are not exported to all are not API. */
@SuppressWarnings("module") // the module that gets an internal package is built later
module dev.postrider.core {
    requires transitive java.net.http;
    requires transitive java.sql;
    requires transitive org.jspecify;
    requires static transitive jdk.httpserver;
    requires org.slf4j;

    exports dev.postrider;
    exports dev.postrider.admin;
    exports dev.postrider.dispatch;
    exports dev.postrider.encryption;
    exports dev.postrider.error;
    exports dev.postrider.event;
    exports dev.postrider.health;
    exports dev.postrider.idempotency;
    exports dev.postrider.idempotency.http;
    exports dev.postrider.inbox;
    exports dev.postrider.message;
    exports dev.postrider.outbox;
    exports dev.postrider.retry;
    exports dev.postrider.store;
    exports dev.postrider.trace;
    exports dev.postrider.transport;
    exports dev.postrider.transport.http;

    // JSON, for a module of Postrider that has no library of its own for it either.
    exports dev.postrider.internal to
            dev.postrider.admin.rest;

    // The schema files, for migration tools.
    opens dev.postrider.schema.h2;
    opens dev.postrider.schema.mariadb;
    opens dev.postrider.schema.mysql;
    opens dev.postrider.schema.postgresql;
}
