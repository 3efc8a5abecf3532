package dev.postrider.server.cli;

import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.jdbc.diagnosis.DiagnosisFinding;
import dev.postrider.jdbc.diagnosis.DiagnosisLimits;
import dev.postrider.jdbc.diagnosis.Severity;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code postrider doctor}: examines the database and what is in it, and says how to fix what it finds. */
@Command(
        name = "doctor",
        description = {
            "Examine the database, its tables and the topics, and say for each finding how to fix it. Changes nothing.",
            "The exit code is that of the worst finding: 0 for ok, 9 for a warning, 10 for an error."
        })
final class DoctorCommand implements Callable<Integer> {

    private static final Columns<DiagnosisFinding> COLUMNS = Columns.<DiagnosisFinding>none()
            .with("severity", "SEVERITY", DiagnosisFinding::severity)
            .with("check", "CHECK", DiagnosisFinding::check)
            .with("text", "FINDING", DiagnosisFinding::text)
            .detail("fix", DiagnosisFinding::fix);

    @Mixin
    private final Access access;

    @Option(
            names = "--transaction-age",
            paramLabel = "DURATION",
            converter = Words.ToDuration.class,
            description = "Report a transaction that is open for longer; 5m by default.")
    private @Nullable Duration transactionAge;

    @Option(
            names = "--dead-rows",
            paramLabel = "N",
            description = "Report more removed rows than this that are not cleaned up.")
    private @Nullable Long deadRows;

    @Mixin
    private final OutputOptions output;

    DoctorCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        DiagnosisLimits defaults = DiagnosisLimits.defaults();
        DiagnosisLimits limits = new DiagnosisLimits(
                deadRows == null ? defaults.deadRows() : deadRows,
                defaults.plannedRows(),
                transactionAge == null ? defaults.transactionAge() : transactionAge);
        return access.database(database -> report(database, limits));
    }

    private int report(JdbcDatabase database, DiagnosisLimits limits) {
        List<DiagnosisFinding> findings = new Doctor(database, limits, Clock.systemUTC())
                .findings().stream()
                        .sorted(Comparator.comparing(DiagnosisFinding::severity).reversed())
                        .toList();
        Severity worst = findings.get(0).severity();
        Report report = output.report();
        report.list(COLUMNS, findings, Map.of("worst", worst), "");
        findings.stream().filter(finding -> finding.fix() != null).forEach(finding -> {
            report.say("");
            report.say(Words.of(finding.severity()) + ": " + Printable.line(finding.text()));
            report.say("  fix: " + Printable.line(String.valueOf(finding.fix())));
        });
        return switch (worst) {
            case OK -> ExitCode.OK;
            case WARN -> ExitCode.WARNINGS;
            case ERROR -> ExitCode.ERRORS;
        };
    }
}
