package dev.postrider.server.cli;

import dev.postrider.admin.Repair;
import dev.postrider.admin.TopicStatus;
import dev.postrider.message.TopicName;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code postrider topics}: lists the topics. */
@Command(name = "topics", description = "List the topics, or remove one that is not used.")
final class TopicsCommand implements Callable<Integer> {

    private static final Columns<TopicStatus> COLUMNS = Columns.<TopicStatus>none()
            .with("topic", "TOPIC", TopicStatus::topic)
            .with("paused", "PAUSED", TopicStatus::paused)
            .with("nodes", "NODES", TopicStatus::nodes)
            .with("backlog", "BACKLOG", TopicStatus::backlog)
            .with("dead", "DEAD", TopicStatus::dead)
            .with("oldest", "OLDEST", TopicStatus::oldest);

    @Mixin
    private final Access access;

    @Mixin
    private final OutputOptions output;

    TopicsCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        return access.admin(this::list);
    }

    private int list(AdminBackend admin) {
        output.report()
                .list(
                        COLUMNS,
                        admin.status(),
                        "No topics are registered yet: a relay or an application registers its own when it starts.");
        return ExitCode.OK;
    }

    /** {@code postrider topics remove}. */
    @Command(
            name = "remove",
            description =
                    "Remove a topic that has no messages and that no live node delivers, such as a misspelled one.")
    static final class Remove implements Callable<Integer> {

        @Mixin
        private final Access access;

        @Parameters(paramLabel = "TOPIC", description = "The name of the topic.")
        private String topic = "";

        @Mixin
        private final ChangeOptions options = new ChangeOptions();

        @Mixin
        private final OutputOptions output;

        Remove(Access access, OutputOptions output) {
            this.access = access;
            this.output = output;
        }

        @Override
        public Integer call() {
            TopicName name = TopicName.of(topic);
            options.requireConsent("remove the topic " + name, output);
            return access.admin(admin -> remove(admin, name));
        }

        private int remove(AdminBackend admin, TopicName name) {
            Repair repair = admin.remove(name, options.change());
            String sentence = switch (repair) {
                case DONE -> name + " is removed.";
                case NOT_FOUND -> "There is no topic " + name + ".";
                default -> name + " has messages, or a live node delivers it: nothing was changed.";
            };
            output.report().result(sentence, Map.of("topic", name, "result", repair));
            return switch (repair) {
                case DONE -> ExitCode.OK;
                case NOT_FOUND -> ExitCode.NOT_FOUND;
                default -> ExitCode.WRONG_STATE;
            };
        }
    }
}
