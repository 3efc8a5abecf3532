package dev.postrider.checker;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A command takes effect once, and all callers get the same result. Under a lease the effect is outside the database and may happen
 * again when the owner was lost. Even then at most one of the calls that got the status completed executed it.
 */
final class OneCommandResult implements Invariant {

    private static final String COMPLETED = "completed";
    private static final String REJECTED = "rejected";
    private static final String MISMATCH = "mismatch";

    @Override
    public String name() {
        return "I12";
    }

    @Override
    public String title() {
        return "one result per command";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        Findings findings = new Findings();
        Map<Integer, List<Call>> commands =
                evidence.history.commands.stream().collect(Collectors.groupingBy(Call::identity));
        commands.forEach((identity, calls) -> results(evidence, identity, calls, findings));
        Tables tables = evidence.tables;
        if (tables != null) {
            effects(evidence, tables, commands, findings);
            open(evidence, tables, findings);
        }
        return findings.verdict(
                commands.size(), "commands had one result for " + evidence.history.commands.size() + " calls");
    }

    private static void results(Evidence evidence, int identity, List<Call> calls, Findings findings) {
        Set<String> results = new HashSet<>();
        Set<String> asked = new HashSet<>();
        Set<String> answered = new HashSet<>();
        boolean mismatch = false;
        for (Call call : calls) {
            asked.add(call.fingerprint());
            mismatch |= call.status().equals(MISMATCH);
            if (call.status().equals(COMPLETED) || call.status().equals(REJECTED)) {
                results.add(call.status() + " " + call.result());
                answered.add(call.fingerprint());
            }
        }
        findings.require(results.size() <= 1, () -> describe(evidence, identity) + " had the results " + results);
        findings.require(answered.size() <= 1, () -> describe(evidence, identity) + " answered to different requests");
        boolean unfounded = mismatch && asked.size() == 1;
        findings.require(
                !unfounded, () -> describe(evidence, identity) + " was refused as another request, and there was none");
    }

    private static void effects(
            Evidence evidence, Tables tables, Map<Integer, List<Call>> commands, Findings findings) {
        Map<Integer, List<CommandEffect>> effects =
                tables.commandEffects.stream().collect(Collectors.groupingBy(CommandEffect::identity));
        effects.forEach((identity, all) -> findings.require(
                commands.containsKey(identity), () -> describe(evidence, identity) + " took effect, and had no call"));
        Map<Integer, Call> byCall = new HashMap<>();
        evidence.history.commands.forEach(call -> byCall.put(call.call(), call));
        commands.forEach((identity, calls) -> {
            List<CommandEffect> all = effects.getOrDefault(identity, List.of());
            boolean completed = calls.stream().anyMatch(call -> call.status().equals(COMPLETED));
            boolean rejected = calls.stream().anyMatch(call -> call.status().equals(REJECTED));
            boolean leased = calls.stream().anyMatch(call -> call.mode().equals("leased"));
            findings.require(
                    !completed || !all.isEmpty(),
                    () -> describe(evidence, identity) + " is completed without an effect");
            findings.require(
                    !rejected || all.isEmpty() || leased,
                    () -> describe(evidence, identity) + " is rejected, and took effect");
            long counted = leased
                    ? all.stream()
                            .filter(effect -> isCompleted(byCall.get(effect.call())))
                            .count()
                    : all.size();
            findings.require(
                    counted <= 1, () -> describe(evidence, identity) + " took effect " + all.size() + " times");
        });
    }

    private static boolean isCompleted(@Nullable Call call) {
        return call != null && call.status().equals(COMPLETED);
    }

    /** A command whose owner was lost may stay in progress until the next call, but its lease must end within one lease time. */
    private static void open(Evidence evidence, Tables tables, Findings findings) {
        tables.openCommands.stream()
                .filter(command -> command.state().equals("IN_PROGRESS") && command.left() > evidence.run.lease())
                .forEach(command -> findings.add(() -> "a command " + command.operation() + " of tenant '"
                        + command.tenant() + "' is in progress for another " + command.left() / 1000 + " ms"));
    }

    private static String describe(Evidence evidence, int identity) {
        return "command " + evidence.history.identities.get(identity).replace('\t', '/');
    }
}
