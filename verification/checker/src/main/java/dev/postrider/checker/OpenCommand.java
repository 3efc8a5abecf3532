package dev.postrider.checker;

/** A command that is not completed, with the remaining microseconds of its lease by the database's clock. */
record OpenCommand(String operation, String tenant, String state, long left) {}
