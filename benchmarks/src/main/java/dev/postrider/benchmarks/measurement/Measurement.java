package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.report.Figure;
import java.util.List;

/** One question and its answer in figures. */
public interface Measurement {

    /** The names of the figures it makes. */
    List<String> names();

    List<Figure> run(Bench bench) throws Exception;
}
