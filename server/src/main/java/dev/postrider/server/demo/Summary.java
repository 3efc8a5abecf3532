package dev.postrider.server.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The final report of a demo. */
final class Summary {

    private final Proof proof;
    private final Shop shop;
    private final Receiver receiver;
    private final List<Node> nodes;

    Summary(Proof proof, Shop shop, Receiver receiver, List<Node> nodes) {
        this.proof = proof;
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
        if (!proof.holds() || receiver.forged() > 0) {
            return "FAILED: what was committed and what was delivered differ.";
        }
        return "Proved: every committed order was delivered, and nothing else was.";
    }
}
