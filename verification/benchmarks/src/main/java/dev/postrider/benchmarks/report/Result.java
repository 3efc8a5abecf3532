package dev.postrider.benchmarks.report;

/** The answer of a measurement to one question: a figure, or why there is none. */
public sealed interface Result permits Figure, Missing {

    String name();
}
