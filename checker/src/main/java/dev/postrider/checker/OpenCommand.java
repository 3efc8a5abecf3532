package dev.postrider.checker;

/** A command that has not ended, and how many microseconds its lease still has by the database's clock. */
record OpenCommand(String operation, String tenant, String state, long left) {}
