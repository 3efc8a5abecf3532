/** Traces of outbox, inbox and commands. The jars of OpenTelemetry are automatic modules with stable names. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module dev.postrider.opentelemetry {
    requires transitive dev.postrider.core;
    requires transitive io.opentelemetry.api;
    requires io.opentelemetry.context;

    exports dev.postrider.opentelemetry;
}
