package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.report.Result;
import java.util.List;

/** A question that is answered by figures. */
public interface Measurement {

    /** The names of its figures. */
    List<String> names();

    /** Whether it is made at this scale unless its figures were asked for by name. */
    boolean isPartOf(Scale scale);

    /** About how many minutes it takes with all rounds of the full scale: its part of the time of a run follows from this. */
    double minutes();

    /** @throws Exception if it fails as a whole; a figure that fails alone is {@link dev.postrider.benchmarks.report.Missing} */
    List<Result> run(Bench bench) throws Exception;
}
