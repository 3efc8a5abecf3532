package dev.postrider.server.cli;

import dev.postrider.error.UnknownTopicException;
import dev.postrider.message.TopicName;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code postrider pause} and {@code postrider resume}. */
@Command
final class PauseCommand implements Callable<Integer> {

    private final boolean pauses;

    @Mixin
    private final Access access;

    @Parameters(paramLabel = "TOPIC", description = "The name of the topic; NAMESPACE/TOPIC outside the default one.")
    private String topic = "";

    @Mixin
    private final ChangeOptions options = new ChangeOptions();

    @Mixin
    private final OutputOptions output;

    /** @param pauses false for resume */
    PauseCommand(boolean pauses, Access access, OutputOptions output) {
        this.pauses = pauses;
        this.access = access;
        this.output = output;
    }

    /** What the verb does, for its help. */
    static String description(boolean pauses) {
        return pauses
                ? "Pause the delivery of a topic on all nodes. Messages in flight are finished."
                : "Resume the delivery of a paused topic.";
    }

    @Override
    public Integer call() {
        TopicName name = TopicName.of(topic);
        if (pauses) {
            options.requireConsent("stop the delivery of " + name + " on all nodes", output);
        }
        return access.admin(admin -> change(admin, name));
    }

    private int change(AdminBackend admin, TopicName name) {
        try {
            if (pauses) {
                admin.pause(name, options.change());
            } else {
                admin.resume(name, options.change());
            }
        } catch (UnknownTopicException e) {
            throw CommandFailure.notFound(
                    "There is no topic " + name + " in this database: 'postrider topics' lists them");
        }
        output.report()
                .result(
                        name + (pauses ? " is paused. Its nodes stop within their poll interval." : " is resumed."),
                        Map.of("topic", name, "paused", pauses));
        return ExitCode.OK;
    }
}
