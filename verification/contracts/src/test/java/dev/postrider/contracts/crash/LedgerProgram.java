package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A dispatcher that delivers an ordered topic to the test's receiver. */
final class LedgerProgram {

    private static final Pace PACE = new Pace(Duration.ofSeconds(8), Duration.ofMillis(200), 20);

    private final String name;
    private final int port;
    private final Queue<Socket> idle = new ConcurrentLinkedQueue<>();

    private LedgerProgram(String name, int port) {
        this.name = name;
        this.port = port;
    }

    public static void main(String[] arguments) throws IOException {
        LedgerProgram program = new LedgerProgram(arguments[4], Integer.parseInt(arguments[5]));
        Postrider postrider = Ledger.configured(
                        Ledger.pool(Orders.database(arguments)),
                        topic -> topic.deliver(delivery -> program.send(
                                Ledger.account(delivery.message()) + " " + Ledger.number(delivery.message()))))
                .dispatch(options -> PACE.set(options, program.name))
                .listener(LedgerProgram::report)
                .build();
        Parent.tell("ready");
        Parent.obey(command -> {
            switch (command) {
                case "start" -> postrider.start();
                case "stop" -> postrider.close();
                default -> throw new IllegalArgumentException(command);
            }
            Parent.tell("did", command);
        });
    }

    private void send(String entry) throws IOException {
        Socket connection = idle.poll();
        if (connection == null) {
            connection = new Socket(InetAddress.getLoopbackAddress(), port);
            connection.setTcpNoDelay(true);
        }
        connection.getOutputStream().write((name + " " + entry + "\n").getBytes(StandardCharsets.UTF_8));
        int answer = connection.getInputStream().read();
        if (answer < 0) {
            throw new EOFException("the receiver is gone");
        }
        idle.add(connection);
        if (answer != '+') {
            throw new IOException("refused");
        }
    }

    private static void report(Event event) {
        if (event instanceof Event.Delivered e) {
            Parent.tell("acknowledged", Ledger.account(e.message()), Ledger.number(e.message()));
        } else if (event instanceof Event.FoundLate e) {
            Parent.tell("late", e.count());
        } else if (event instanceof Event.Buried e) {
            Parent.tell("buried", Ledger.account(e.message()), e.error());
        } else if (event instanceof Event.Parked e) {
            Parent.tell("parked", Ledger.account(e.message()), e.error());
        }
    }
}
