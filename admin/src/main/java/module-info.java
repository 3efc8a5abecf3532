/** The admin API over HTTP, for any server. */
module dev.postrider.admin.rest {
    requires transitive dev.postrider.core;
    requires static transitive jakarta.servlet;
    requires static transitive jdk.httpserver;
    requires org.slf4j;

    exports dev.postrider.admin.rest;
}
