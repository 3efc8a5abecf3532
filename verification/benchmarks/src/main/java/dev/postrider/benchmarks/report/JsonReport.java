package dev.postrider.benchmarks.report;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The report as JSON: one object per figure, by name, and the charts that they refer to by position. */
public final class JsonReport {

    private static final Gson GSON =
            new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

    private JsonReport() {}

    public static String of(Report report) {
        List<Chart> charts = report.charts();
        Map<String, Object> figures = new LinkedHashMap<>();
        report.figures().forEach(figure -> figures.put(figure.name(), figure(figure, charts.indexOf(figure.chart()))));
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("environment", report.environment());
        all.put("figures", figures);
        all.put("charts", charts.stream().map(JsonReport::chart).toList());
        all.put("leftOut", report.leftOut());
        all.put("unavailable", report.unavailable());
        all.put("failed", report.failed());
        return GSON.toJson(all) + "\n";
    }

    private static Map<String, Object> figure(Figure figure, int chart) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("value", rounded(figure.value()));
        object.put("aim", figure.aim().toString());
        object.put("met", figure.isMet());
        object.put("samples", rounded(figure.ratio().values()));
        object.put("ours", figure.ours());
        object.put("against", figure.against());
        Samples byRate = figure.byRate();
        if (byRate != null) {
            object.put("byRate", samples(byRate));
        }
        object.put("chart", chart);
        return object;
    }

    private static Map<String, Object> chart(Chart chart) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (Series series : chart.series()) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("unit", series.unit());
            object.put("lessIsBetter", series.lessIsBetter());
            object.put("systems", systems(series.systems()));
            if (!series.clients().isEmpty()) {
                object.put("clients", systems(series.clients()));
            }
            all.add(object);
        }
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("question", chart.question());
        object.put("series", all);
        object.put("notes", chart.notes());
        if (!chart.tables().isEmpty()) {
            object.put("tables", chart.tables());
        }
        return object;
    }

    private static Map<String, Object> systems(Map<String, Samples> all) {
        Map<String, Object> systems = new LinkedHashMap<>();
        all.forEach((name, samples) -> systems.put(name, samples(samples)));
        return systems;
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
