package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.report.Figure;
import java.util.List;

/** A question that is answered by figures. */
public interface Measurement {

    /** The names of its figures. */
    List<String> names();

    /** Whether it is made at this scale unless its figures were asked for by name. */
    boolean isPartOf(Scale scale);

    List<Figure> run(Bench bench) throws Exception;
}
