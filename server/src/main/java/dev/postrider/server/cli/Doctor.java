package dev.postrider.server.cli;

import static dev.postrider.jdbc.diagnosis.DiagnosisFinding.error;
import static dev.postrider.jdbc.diagnosis.DiagnosisFinding.ok;
import static dev.postrider.jdbc.diagnosis.DiagnosisFinding.warn;

import dev.postrider.admin.Admin;
import dev.postrider.admin.NodeStatus;
import dev.postrider.admin.StoredCommand;
import dev.postrider.admin.TopicStatus;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.jdbc.diagnosis.Diagnosis;
import dev.postrider.jdbc.diagnosis.DiagnosisFinding;
import dev.postrider.jdbc.diagnosis.DiagnosisLimits;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The checks of the diagnosis that need the operators' interface, the tables or a clock, together with those of the database. */
final class Doctor {

    /** From here on times of the application and of the database do not fit together; leases go by the database alone. */
    private static final Duration SKEW = Duration.ofSeconds(2);

    private static final int MOST_COMMANDS = 1000;

    private final JdbcDatabase database;
    private final Diagnosis diagnosis;
    private final Clock clock;
    private final List<DiagnosisFinding> findings = new ArrayList<>();

    Doctor(JdbcDatabase database, DiagnosisLimits limits, Clock clock) {
        this.database = database;
        this.diagnosis = database.diagnosis(limits);
        this.clock = clock;
    }

    /** Runs every check once. Without its privileges or its tables Postrider does not start, and nothing else is checked. */
    List<DiagnosisFinding> findings() {
        findings.add(clocks());
        List<String> missing = database.missingGrants();
        missing.forEach(privilege -> findings.add(lacking(privilege)));
        if (missing.isEmpty()) {
            findings.add(ok("grants", "The database user has every privilege that it needs."));
            Optional<DiagnosisFinding> mismatch = mismatch();
            findings.add(mismatch.orElseGet(() -> ok("schema", "This version works with the tables.")));
            if (mismatch.isEmpty()) {
                rows();
            }
        }
        return findings;
    }

    private void rows() {
        findings.addAll(diagnosis.run());
        Admin admin = database.admin();
        topics(admin);
        nodes(admin);
        commands(admin);
    }

    /** Compares the time of the database with the middle of the call, by the clock of this computer. */
    private DiagnosisFinding clocks() {
        Instant before = clock.instant();
        Instant there = diagnosis.now();
        Duration trip = Duration.between(before, clock.instant());
        Duration skew = Duration.between(before.plus(trip.dividedBy(2)), there).abs();
        return skew.minus(trip).compareTo(SKEW) <= 0
                ? ok("clock", "The clocks of this computer and of the database agree.")
                : warn(
                        "clock",
                        "The clocks of this computer and of the database differ by " + Words.of(skew)
                                + ": times of messages and of logs do not fit together",
                        "let both follow a time server, for example with chrony");
    }

    private static DiagnosisFinding lacking(String privilege) {
        return error(
                "grants",
                "The database user lacks " + privilege,
                "GRANT " + privilege.replaceFirst(" on ", " ON ") + " TO <the user>; -- as the owner of the tables");
    }

    private Optional<DiagnosisFinding> mismatch() {
        try {
            database.check();
            return Optional.empty();
        } catch (SchemaMismatchException | InvalidConfigurationException e) {
            return Optional.of(error(
                    "schema",
                    String.valueOf(e.getMessage()),
                    "postrider schema migrate creates and upgrades tables; the text says what else to do"));
        }
    }

    private void topics(Admin admin) {
        int before = findings.size();
        for (TopicStatus topic : admin.status()) {
            String name = topic.topic().toString();
            if (topic.paused()) {
                findings.add(warn("topics", name + " is paused, with " + waiting(topic), "postrider resume " + name));
            } else if (topic.isStranded()) {
                findings.add(error(
                        "topics",
                        name + " has " + waiting(topic)
                                + " and no live node delivers it: its name is misspelled, its node is"
                                + " not started, or the node uses another database",
                        "start its node; compare 'postrider nodes' and 'postrider schema status' here and in the database of"
                                + " the node"));
            }
            if (topic.blocked() + topic.parked() > 0) {
                findings.add(warn(
                        "topics",
                        name + " has blocked keys: " + topic.parked() + " parked, " + topic.blocked()
                                + " blocked behind heads",
                        "postrider blocked-keys " + name));
            }
            if (topic.dead() > 0) {
                findings.add(warn(
                        "topics",
                        name + " has " + Words.count(topic.dead(), "dead letter"),
                        "postrider failures --topic " + name + "; postrider replay --topic " + name + " --state dead"));
            }
        }
        if (findings.size() == before) {
            findings.add(ok("topics", "No topic needs an operator."));
        }
    }

    private static String waiting(TopicStatus topic) {
        return Words.count(topic.backlog(), "message") + " to deliver";
    }

    /**
     * A node and an application that use different databases cannot be seen from one of them. What can be seen: nodes that
     * deliver from a database in which nothing was ever written, and (above) messages that no node delivers.
     */
    private void nodes(Admin admin) {
        List<NodeStatus> live = admin.nodes().stream().filter(NodeStatus::alive).toList();
        List<String> versions =
                live.stream().map(NodeStatus::version).distinct().sorted().toList();
        if (versions.size() > 1) {
            findings.add(warn(
                    "nodes",
                    "The live nodes run several versions: " + String.join(", ", versions),
                    "finish the upgrade; 'postrider nodes' shows the version of each node"));
        }
        boolean empty = !live.isEmpty() && diagnosis.isUnused();
        if (empty) {
            findings.add(warn(
                    "nodes",
                    Words.count(live.size(), "live node")
                            + " deliver from this database, in which no message was ever written:"
                            + " the applications may write to another database",
                    "compare 'postrider schema status' here and in the database of the application: the times differ if these"
                            + " are different tables"));
        }
        if (versions.size() <= 1 && !empty) {
            findings.add(ok("nodes", Words.count(live.size(), "live node") + "."));
        }
    }

    private void commands(Admin admin) {
        List<StoredCommand> uncertain = admin.commands().uncertain(MOST_COMMANDS);
        findings.add(
                uncertain.isEmpty()
                        ? ok("commands", "No command is uncertain.")
                        : warn(
                                "commands",
                                Words.count(uncertain.size(), "command")
                                        + " may or may not have taken effect, and calls with their keys are refused",
                                "postrider commands; postrider commands resolve "
                                        + uncertain.get(0).reference() + " --as completed|failed|released"));
    }
}
