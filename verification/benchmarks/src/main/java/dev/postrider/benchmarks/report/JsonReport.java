package dev.postrider.benchmarks.report;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The figures as JSON: one object per name. */
public final class JsonReport {

    private static final Gson GSON =
            new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

    private JsonReport() {}

    public static String of(Report report) {
        Map<String, Object> figures = new LinkedHashMap<>();
        report.figures().forEach(figure -> figures.put(figure.name(), figure(figure)));
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("environment", report.environment());
        all.put("figures", figures);
        all.put("unavailable", report.unavailable());
        all.put("failed", report.failed());
        return GSON.toJson(all) + "\n";
    }

    private static Map<String, Object> figure(Figure figure) {
        Map<String, Object> systems = new LinkedHashMap<>();
        figure.systems().forEach((name, samples) -> systems.put(name, samples(samples)));
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("value", rounded(figure.value()));
        object.put("aim", figure.aim().toString());
        object.put("met", figure.isMet());
        object.put("samples", rounded(figure.ratio().values()));
        object.put("question", figure.question());
        object.put("against", figure.against());
        object.put("unit", figure.unit());
        object.put("systems", systems);
        object.put("notes", figure.notes());
        return object;
    }

    private static Map<String, Object> samples(Samples samples) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("median", rounded(samples.median()));
        object.put("min", rounded(samples.min()));
        object.put("max", rounded(samples.max()));
        object.put("samples", rounded(samples.values()));
        return object;
    }

    private static List<Double> rounded(List<Double> values) {
        return values.stream().map(JsonReport::rounded).toList();
    }

    private static double rounded(double value) {
        return Math.round(value * 10_000) / 10_000.0;
    }
}
