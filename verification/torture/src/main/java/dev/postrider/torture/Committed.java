package dev.postrider.torture;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Counts the messages whose commit was confirmed, by following the journals of the producers. One thread. */
final class Committed {

    private final Map<Path, Follower> followers = new HashMap<>();
    private final Path directory;
    private long messages;

    Committed(Path directory) {
        this.directory = directory;
    }

    /** Follows one journal and counts the messages of open transactions. */
    private final class Follower {

        private final JournalReader reader;
        private final Map<String, Integer> open = new HashMap<>();

        Follower(Path journal) {
            reader = new JournalReader(journal);
        }

        void read(String line) {
            if (line.contains("\tintended\t")) {
                JournalLine intended = JournalLine.parse(line);
                open.merge(intended.value("tx"), intended.value("kept").equals("true") ? 1 : 0, Integer::sum);
            } else {
                JournalLine end = JournalLine.parse(line);
                Integer count = open.remove(end.value("tx"));
                if (end.event().equals("committed") && count != null) {
                    messages += count;
                }
            }
        }
    }

    /** @param producers the highest number of a process that may have written a journal */
    long count(int producers) {
        for (Path journal : journals(producers)) {
            Follower follower = followers.computeIfAbsent(journal, Follower::new);
            follower.reader.more(follower::read);
        }
        return messages;
    }

    private List<Path> journals(int producers) {
        List<Path> found = new ArrayList<>();
        for (int number = 1; number <= producers; number++) {
            Path journal = directory.resolve("producer-" + number + ".journal");
            if (followers.containsKey(journal) || Files.exists(journal)) {
                found.add(journal);
            }
        }
        return found;
    }
}
