package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import java.util.ArrayList;
import java.util.List;

/** The contenders of one measurement: prepared together, closed together. */
final class Field implements AutoCloseable {

    private final List<Contender> contenders = new ArrayList<>();

    Contender add(Contender contender) throws Exception {
        contenders.add(contender);
        contender.prepare();
        return contender;
    }

    @Override
    public void close() {
        contenders.forEach(Contender::close);
    }
}
