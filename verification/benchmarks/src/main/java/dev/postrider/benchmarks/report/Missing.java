package dev.postrider.benchmarks.report;

/** A figure that could not be made, although others of the same measurement could. */
public record Missing(String name, String reason) implements Result {}
