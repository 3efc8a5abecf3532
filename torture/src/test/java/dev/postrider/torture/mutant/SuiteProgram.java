package dev.postrider.torture.mutant;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.Arrays;
import org.junit.platform.engine.discovery.MethodSelector;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs tests of suites in a process of its own: {@code Claiming#lostLeaseCannotAcknowledge …}. Ends with 0 if all of them passed. */
final class SuiteProgram {

    /** A test that was run has failed; not what Java itself ends with. */
    static final int FAILED = 17;

    /** Not all of them were run, which says nothing. */
    static final int NOT_RUN = 18;

    private SuiteProgram() {}

    public static void main(String[] tests) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(Arrays.stream(tests).map(SuiteProgram::selector).toList())
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        TestExecutionSummary summary = listener.getSummary();
        summary.getFailures()
                .forEach(failure -> System.out.println(
                        failure.getTestIdentifier().getDisplayName() + " failed: " + failure.getException()));
        boolean all = summary.getTestsStartedCount() == tests.length && summary.getTestsAbortedCount() == 0;
        int status = all ? (summary.getTestsFailedCount() > 0 ? FAILED : 0) : NOT_RUN;
        // Threads of a node that a failed test left behind must not keep the process.
        Runtime.getRuntime().halt(status);
    }

    private static MethodSelector selector(String test) {
        String[] parts = test.split("#");
        String suite = parts[0].contains(".") ? parts[0] : Suites.class.getName() + "$" + parts[0];
        return selectMethod(suite, parts[1]);
    }
}
