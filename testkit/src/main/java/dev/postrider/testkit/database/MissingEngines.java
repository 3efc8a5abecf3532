package dev.postrider.testkit.database;

import java.io.PrintStream;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Assumptions;

/** Aborts or fails a test whose engine cannot run here. It always prints a notice, so no test is skipped silently. */
final class MissingEngines {

    private final boolean failInsteadOfAbort;
    private final PrintStream notices;
    private final Set<Engine> noticed = EnumSet.noneOf(Engine.class);

    MissingEngines(boolean failInsteadOfAbort, PrintStream notices) {
        this.failInsteadOfAbort = failInsteadOfAbort;
        this.notices = notices;
    }

    DatabaseServer orAbort(Engine engine, Function<Engine, DatabaseServer> starter) {
        try {
            return starter.apply(engine);
        } catch (DatabaseUnavailableException e) {
            if (failInsteadOfAbort) {
                throw e;
            }
            String notice = "NOT RUN: " + engine.displayName() + ": " + e.reason() + "; " + e.fix();
            print(engine, notice);
            return abort(e, notice);
        }
    }

    private static DatabaseServer abort(DatabaseUnavailableException failure, String notice) {
        try {
            return Assumptions.abort(notice);
        } catch (NoClassDefFoundError withoutJUnit) {
            throw failure;
        }
    }

    private synchronized void print(Engine engine, String notice) {
        if (noticed.add(engine)) {
            notices.println(notice);
        }
    }
}
