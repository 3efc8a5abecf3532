package dev.postrider.jdbc.diagnosis;

/** How urgent a finding is, from good to bad. */
public enum Severity {
    /** Nothing to do. */
    OK,
    /** Should be looked at: it costs performance, hides a mistake, or may lose messages in a rare case. */
    WARN,
    /** Must be fixed: messages are not delivered, or may be lost. */
    ERROR
}
