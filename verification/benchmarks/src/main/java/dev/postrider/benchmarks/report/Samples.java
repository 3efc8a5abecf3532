package dev.postrider.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleBinaryOperator;
import java.util.function.ToDoubleFunction;

/** One number for each round, in the order of the rounds. At least one. */
public record Samples(List<Double> values) {

    public Samples {
        values = List.copyOf(values);
        if (values.isEmpty()) {
            throw new IllegalArgumentException("No samples");
        }
    }

    public static Samples of(double... values) {
        List<Double> list = new ArrayList<>();
        for (double value : values) {
            list.add(value);
        }
        return new Samples(list);
    }

    /** One number out of each round's measurement. */
    public static <T> Samples of(List<T> rounds, ToDoubleFunction<T> number) {
        return new Samples(rounds.stream().map(number::applyAsDouble).toList());
    }

    /** Combines two samples round by round; ignores rounds that only one of them has. */
    public Samples combine(Samples other, DoubleBinaryOperator operator) {
        List<Double> combined = new ArrayList<>();
        for (int i = 0; i < Math.min(values.size(), other.values.size()); i++) {
            combined.add(operator.applyAsDouble(values.get(i), other.values.get(i)));
        }
        return new Samples(combined);
    }

    public double median() {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    public double min() {
        return values.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
    }

    public double max() {
        return values.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    }
}
