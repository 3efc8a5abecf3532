package dev.postrider.admin.rest;

import dev.postrider.admin.Repair;

/** Turns the result of an action into an answer or a problem. */
final class Repairs {

    private Repairs() {}

    /** @param what the thing that was to be changed, for the problem */
    static Shapes.Done done(Repair repair, String what) {
        if (repair == Repair.DONE) {
            return new Shapes.Done();
        }
        throw refusal(repair, what);
    }

    /** Makes the problem of an action that changed nothing. */
    static Refusal refusal(Repair repair, String what) {
        Problem problem = switch (repair) {
            case DONE -> throw new AssertionError("is an answer");
            case NOT_FOUND -> ProblemType.NOT_FOUND.because("There is no such " + what + ". Nothing was changed");
            case WRONG_STATE ->
                ProblemType.WRONG_STATE.because("The " + what
                        + " is in a state that the action does not change, or in another one than expected."
                        + " Nothing was changed");
            case BUSY ->
                ProblemType.BUSY.because("The " + what
                        + " is being handled at this moment. Nothing was changed: send the request again");
            case NO_PAYLOAD ->
                ProblemType.WRONG_STATE.because("The archive keeps no payload of the " + what
                        + ", so that it cannot be delivered again. Nothing was changed");
            case IN_USE ->
                ProblemType.IN_USE.because(
                        "The topic has messages, or a live node delivers it. Nothing was changed: deliver or discard its"
                                + " messages and stop its nodes first");
        };
        return new Problem(problem.type(), problem.detail(), null, Words.of(repair)).refusal();
    }
}
