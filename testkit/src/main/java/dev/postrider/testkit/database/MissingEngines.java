package dev.postrider.testkit.database;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;

/** Aborts the tests of engines that cannot run or are left out, and prints each such engine once. */
final class MissingEngines {

    /** A system property: the engines whose tests are not to run, separated by commas. */
    static final String PROPERTY = "postrider.engines.omitted";

    private final Set<Engine> omitted;
    private final boolean failInsteadOfAbort;
    private final PrintStream notices;
    private final Set<Engine> noticed = EnumSet.noneOf(Engine.class);

    MissingEngines(Set<Engine> omitted, boolean failInsteadOfAbort, PrintStream notices) {
        this.omitted = omitted;
        this.failInsteadOfAbort = failInsteadOfAbort;
        this.notices = notices;
    }

    /** The engines that {@value #PROPERTY} names. */
    static Set<Engine> omitted() {
        return Arrays.stream(System.getProperty(PROPERTY, "").split(","))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .map(Engine::valueOf)
                .collect(Collectors.toUnmodifiableSet());
    }

    DatabaseServer orAbort(Engine engine, Function<Engine, DatabaseServer> starter) {
        if (omitted.contains(engine)) {
            return abort(new DatabaseUnavailableException(
                    engine,
                    "the system property " + PROPERTY + " leaves it out",
                    "remove it there; in the build of Postrider, ./mvnw verify -Pfull runs it"));
        }
        try {
            return starter.apply(engine);
        } catch (DatabaseUnavailableException e) {
            if (failInsteadOfAbort) {
                throw e;
            }
            return abort(e);
        }
    }

    private DatabaseServer abort(DatabaseUnavailableException failure) {
        String notice = "NOT RUN: " + failure.engine().displayName() + ": " + failure.reason() + "; " + failure.fix();
        print(failure.engine(), notice);
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
