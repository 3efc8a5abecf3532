package dev.postrider.checker;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/**
 * Writes the journals of a large run that went well: two producers, four workers of which one is killed every five seconds, half of
 * the messages in order, and commands. To see how long the checker takes, and whether it has room:
 *
 * <pre>java -cp … dev.postrider.checker.LargeRun directory 1000000</pre>
 */
final class LargeRun {

    private static final long BEGINNING = Story.BEGINNING;
    private static final int KEYS = 10_000;
    private static final int IN_FLIGHT = 16;

    private final Path directory;
    private final int messages;
    private final long step;
    private final Random random = new Random(5);
    private final int[] numbers = new int[KEYS];

    LargeRun(Path directory, int messages) {
        this.directory = directory;
        this.messages = messages;
        this.step = 900 * Story.SECOND / messages;
    }

    public static void main(String[] arguments) throws IOException {
        new LargeRun(Path.of(arguments[0]), Integer.parseInt(arguments[1])).write();
        long begin = System.nanoTime();
        int status = Checker.run(List.of("--journals-only", arguments[0]), System.out);
        System.out.println("status " + status + " after " + (System.nanoTime() - begin) / 1_000_000 + " ms");
    }

    void write() throws IOException {
        Files.writeString(directory.resolve(Run.FILE), """
                leaseMillis=5000
                pollMillis=100
                maxAttempts=5
                inFlight=%d
                workers=4
                engine=none
                started=%d
                faultsEnded=%d
                ended=%d
                """.formatted(
                        IN_FLIGHT, BEGINNING, BEGINNING + 890 * Story.SECOND, BEGINNING + 910 * Story.SECOND));
        try (BufferedWriter producer = open("producer-1");
                BufferedWriter worker = open("worker-1");
                BufferedWriter receiver = open("receiver");
                BufferedWriter caller = open("caller-1");
                BufferedWriter nemesis = open("nemesis")) {
            worker.write(BEGINNING + "\tstarted\tname=w1\tpid=1\n");
            long kills = BEGINNING;
            for (int message = 0; message < messages; message++) {
                long now = BEGINNING + message * step;
                UUID id = new UUID(now << 8, random.nextLong());
                boolean ordered = message % 2 == 0;
                int key = random.nextInt(10) == 0 ? 0 : random.nextInt(KEYS);
                String address = "\ttopic=" + (ordered ? "orders" : "mails") + "\ttenant=t" + key % 20 + "\tkey=key-"
                        + key + "\tnumber=" + (ordered ? ++numbers[key] : "");
                produce(producer, now, id, ordered, address, message);
                boolean killed = now - kills > 5 * Story.SECOND;
                deliver(worker, receiver, now, id, address, !killed);
                if (killed) {
                    kills = now;
                    nemesis.write(now + "\tfault\tkind=kill-worker\ttarget=w1\tfromMicros=" + now + "\ttoMicros=" + now
                            + "\n");
                    deliver(worker, receiver, now + step / 2, id, address, true);
                }
                if (message % 20 == 0) {
                    call(caller, now, message);
                }
            }
        }
    }

    private void produce(BufferedWriter out, long now, UUID id, boolean ordered, String address, int message)
            throws IOException {
        UUID transaction = new UUID(message, 1);
        out.write(now + "\tintended\ttx=" + transaction + "\tid=" + id + "\tordered=" + ordered + address + "\thash="
                + Story.HASH + "\tdedup=" + (ordered ? "" : "dedup-" + message) + "\tdeliverAt=\tkept=true\n");
        out.write(now + 1 + "\tcommitted\ttx=" + transaction + "\n");
    }

    private static void deliver(
            BufferedWriter worker, BufferedWriter receiver, long now, UUID id, String address, boolean acknowledged)
            throws IOException {
        worker.write(
                now + 2 + "\tsending\tid=" + id + "\tkey=\tnumber=\tattempt=1\ttoken=" + new UUID(now >> 10, 2) + "\n");
        receiver.write(
                now + 3 + "\treceived\tid=" + id + address + "\thash=" + Story.HASH + "\tworker=w1\tattempt=1\n");
        receiver.write(now + 4 + "\tanswered\tid=" + id + "\tworker=w1\tresult=ok\n");
        if (acknowledged) {
            worker.write(now + 5 + "\tacknowledged\tid=" + id + "\n");
        }
    }

    private static void call(BufferedWriter out, long now, int message) throws IOException {
        UUID call = new UUID(message, 3);
        out.write(now + "\tasked\ttenant=t\tcaller=c\toperation=pay\tkey=k" + message / 40 + "\tfingerprint=f"
                + message / 40 + "\tmode=join\tcall=" + call + "\n");
        out.write(now + 1 + "\ttold\tcall=" + call + "\tstatus=completed\tresult=r" + message / 40 + "\n");
    }

    private BufferedWriter open(String name) {
        try {
            return Files.newBufferedWriter(directory.resolve(name + ".journal"), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
