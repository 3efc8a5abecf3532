package dev.postrider.server.demo;

import dev.postrider.admin.StoredMessage.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The final report of a demo. */
final class Summary {

    private final Proof proof;
    private final Troubled troubled;
    private final Shop shop;
    private final Receiver receiver;
    private final List<Node> nodes;

    Summary(Proof proof, Troubled troubled, Shop shop, Receiver receiver, List<Node> nodes) {
        this.proof = proof;
        this.troubled = troubled;
        this.shop = shop;
        this.receiver = receiver;
        this.nodes = nodes;
    }

    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(line("orders committed", proof.committed(), "rows in the database"));
        lines.add(line("orders delivered", receiver.distinct(), "ids at the receiver; " + shares()));
        lines.add(line("lost", proof.lost(), "committed, not delivered"));
        lines.add(line("phantoms", proof.phantoms(), "delivered, not committed"));
        lines.add(line(
                "rolled back", proof.rolledBack(), "on purpose; delivered of these: " + proof.rolledBackArrived()));
        lines.add(line("duplicates", proof.duplicates(), "delivered again; at-least-once allows them"));
        lines.add(line(
                "requests",
                receiver.requests(),
                receiver.refused() + " failed on purpose, " + receiver.slow() + " answered slowly, " + receiver.forged()
                        + " with a wrong signature"));
        lines.add(line(
                "mail and stock",
                troubled.committed(),
                "messages to topics that fail on purpose: " + troubled.in(State.DELIVERED) + " delivered, "
                        + troubled.in(State.DEAD) + " dead, " + troubled.in(State.PARKED) + " parked, "
                        + troubled.waiting()
                        + " waiting, " + troubled.missing() + " missing"));
        if (shop.failed() > 0) {
            lines.add(line("orders failed", shop.failed(), "could not be placed, not on purpose"));
        }
        lines.add("");
        lines.add(verdict());
        return lines;
    }

    private String shares() {
        List<String> shares = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            shares.add("node " + (i + 1) + ": " + nodes.get(i).delivered());
        }
        return String.join(", ", shares);
    }

    private static String line(String name, long count, String note) {
        return String.format(Locale.ROOT, "  %-18s %8d   %s", name, count, note);
    }

    private String verdict() {
        if (proof.committed() == 0) {
            return "Nothing was committed, so nothing is proved.";
        }
        if (!proof.holds() || troubled.missing() > 0 || receiver.forged() > 0) {
            return "FAILED: what was committed and what was delivered differ.";
        }
        return "Proved: every committed order was delivered, and nothing else was.";
    }
}
