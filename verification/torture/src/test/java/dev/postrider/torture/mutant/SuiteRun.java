package dev.postrider.torture.mutant;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import dev.postrider.testkit.database.Engine;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs tests, {@code Claiming#lostLeaseCannotAcknowledge …}, with the classes of the loader that this one comes from. */
public final class SuiteRun implements BiFunction<String, List<String>, List<String>> {

    /**
     * What failed, and how; empty if all of them passed. Every loader of servers has its own {@link Engine}, so the engine is told by its
     * name.
     */
    @Override
    public List<String> apply(String name, List<String> tests) {
        Engine engine = Engine.valueOf(name);
        Suites.use(engine);
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "false")
                .selectors(tests.stream().map(test -> selector(engine, test)).toList())
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        try {
            LauncherFactory.create().execute(request, listener);
        } finally {
            Suites.end();
        }
        TestExecutionSummary summary = listener.getSummary();
        List<String> failures = summary.getFailures().stream()
                .map(failure -> failure.getTestIdentifier().getDisplayName() + " failed: " + failure.getException())
                .toList();
        if (summary.getTestsStartedCount() != tests.size() || summary.getTestsAbortedCount() > 0) {
            throw new IllegalStateException("Not all of " + tests + " were run, which says nothing: " + failures);
        }
        return failures;
    }

    private static DiscoverySelector selector(Engine engine, String test) {
        String[] parts = test.split("#");
        Class<?> suite = type(parts[0].contains(".") ? parts[0] : Suites.class.getName() + "$" + parts[0]);
        return suite.isAnnotationPresent(ParameterizedClass.class)
                ? selectUniqueId(invocation(suite, engine).append("method", parts[1] + "()"))
                : selectMethod(suite, parts[1]);
    }

    /** Of a suite that is run for several engines, the run for this one. */
    private static UniqueId invocation(Class<?> suite, Engine engine) {
        List<String> names = Arrays.asList(suite.getAnnotation(EnumSource.class).names());
        List<Engine> engines = Arrays.stream(Engine.values())
                .filter(each -> names.isEmpty() || names.contains(each.name()))
                .toList();
        return UniqueId.forEngine("junit-jupiter")
                .append("class-template", suite.getName())
                .append("class-template-invocation", "#" + (engines.indexOf(engine) + 1));
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("There is no suite " + name, e);
        }
    }
}
