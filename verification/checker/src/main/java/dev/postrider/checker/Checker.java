package dev.postrider.checker;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The command: reads the directory that a run left and the tables of its database, and prints for each invariant whether it held.
 * Exits with 0 if all held, with 1 if not, and with 2 if the evidence cannot be read.
 */
public final class Checker {

    private static final String USAGE =
            "checker: wants <directory> <jdbc url> <user> <password>, or --journals-only <directory>";

    private Checker() {}

    /** Checks the evidence and exits. */
    public static void main(String[] arguments) {
        System.exit(run(List.of(arguments), System.out));
    }

    static int run(List<String> arguments, PrintStream out) {
        List<String> rest = new ArrayList<>(arguments);
        boolean journalsOnly = rest.remove("--journals-only");
        if (journalsOnly ? rest.isEmpty() : rest.size() != 4) {
            out.println(USAGE);
            return 2;
        }
        try {
            Path directory = Path.of(rest.get(0));
            Run run = Run.read(directory);
            History history = Journals.read(directory);
            Tables tables = journalsOnly ? null : TableReader.read(rest.get(1), rest.get(2), rest.get(3), history);
            return judge(directory, run, history, tables, out);
        } catch (UnreadableEvidenceException | IOException e) {
            out.println("checker: " + e.getMessage());
            return 2;
        }
    }

    private static int judge(Path directory, Run run, History history, @Nullable Tables tables, PrintStream out)
            throws IOException {
        Evidence evidence = new Evidence(run, history, tables);
        Judgement judgement = Judgement.of(evidence);
        judgement.lines().forEach(out::println);
        Files.write(directory.resolve("verdict.txt"), judgement.lines());
        Files.write(directory.resolve("verdict.md"), judgement.table());
        Files.write(directory.resolve("timeline.csv"), Timeline.lines(evidence));
        Files.write(directory.resolve("recovery.md"), Recovery.lines(evidence));
        if (tables != null) {
            Files.write(directory.resolve("transitions.md"), new Census(Model.read(), tables).table());
        }
        return judgement.isGood() ? 0 : 1;
    }
}
