package dev.postrider.simulation;

import dev.postrider.idempotency.CommandResult;
import dev.postrider.simulation.Callers.Told;
import dev.postrider.simulation.Callers.Wish;
import java.util.ArrayList;
import java.util.List;

/** Judges what callers were told of commands by what was done for them. */
final class CommandJudge {

    private final World world;
    private final Callers callers;
    private final List<String> violations = new ArrayList<>();

    private CommandJudge(World world) {
        this.world = world;
        this.callers = world.callers();
    }

    static List<String> violations(World world) {
        CommandJudge judge = new CommandJudge(world);
        if (!world.database().hasFailedOver()) {
            callersAgree(judge);
        }
        judge.nothingStuck();
        return judge.violations;
    }

    private static void callersAgree(CommandJudge judge) {
        judge.callers.wishes().forEach(judge::oneEffect);
        judge.violations.addAll(judge.callers.complaints());
    }

    /** One effect at most, and every caller that got an answer got the one that goes with it. */
    private void oneEffect(Wish wish) {
        List<String> effects = effects(wish);
        if (effects.size() > 1) {
            violations.add("command: " + wish.key() + " took effect " + effects.size() + " times");
        }
        for (Told told : callers.told()) {
            if (told.wish().equals(wish) && !isTrue(told.answer(), effects)) {
                violations.add("command: a caller of " + wish.key() + " was told " + told.answer()
                        + ", and its effects are " + effects);
            }
        }
    }

    private List<String> effects(Wish wish) {
        List<String> effects = new ArrayList<>();
        world.database().deeds().stream()
                .filter(deed -> deed.what().equals(wish.key()))
                .forEach(deed -> effects.add(deed.result()));
        callers.payments().payments().stream()
                .filter(payment -> payment.key().equals(wish.key()))
                .forEach(payment -> effects.add(payment.result()));
        return effects;
    }

    private static boolean isTrue(CommandResult<String> answer, List<String> effects) {
        if (answer instanceof CommandResult.Completed<String> completed) {
            return effects.equals(List.of(String.valueOf(completed.value())));
        }
        if (answer instanceof CommandResult.ResultOmitted) {
            return effects.size() == 1;
        }
        if (answer instanceof CommandResult.Rejected) {
            return effects.isEmpty();
        }
        return !(answer instanceof CommandResult.Mismatch);
    }

    /** A caller that kept on asking has an answer, and a lost command is called uncertain. */
    private void nothingStuck() {
        if (callers.unanswered() > 0) {
            violations.add("stuck: " + callers.unanswered() + " callers have no answer");
        }
        long forgotten = world.database().forgottenCommands(Callers.LEASE);
        if (forgotten > 0) {
            violations.add("stuck: " + forgotten + " commands are in progress, and no owner is alive");
        }
    }
}
