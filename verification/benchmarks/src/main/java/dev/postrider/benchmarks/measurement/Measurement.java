package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.report.Figure;
import java.util.List;

/** A question that is answered by figures. */
public interface Measurement {

    /** The names of its figures. */
    List<String> names();

    List<Figure> run(Bench bench) throws Exception;
}
