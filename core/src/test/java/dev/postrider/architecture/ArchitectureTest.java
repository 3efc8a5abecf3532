package dev.postrider.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.lang.conditions.ArchConditions.callMethodWhere;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import dev.postrider.internal.Internal;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.Timer;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The dependencies of packages, and which packages may use the database and start threads. */
final class ArchitectureTest {

    private static final String ROOT = "dev.postrider";

    private static final JavaClasses CORE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);

    /** Each package, and the packages that it may use. It must use no other. */
    private static final Map<String, List<String>> DEPENDENCIES = new TreeMap<>(Map.ofEntries(
            Map.entry("error", List.of()),
            Map.entry("internal", List.of()),
            Map.entry("message", List.of("error")),
            Map.entry("encryption", List.of("error", "internal", "message")),
            Map.entry("retry", List.of("error")),
            Map.entry("outbox", List.of("error", "message")),
            Map.entry("store", List.of("error", "message")),
            Map.entry("trace", List.of("internal", "message")),
            Map.entry("internal.event", List.of("admin", "event", "internal", "message")),
            Map.entry("internal.trace", List.of("message", "trace")),
            Map.entry("internal.store", List.of("admin", "encryption", "error", "inbox", "message", "outbox", "store")),
            Map.entry("inbox", List.of("error", "message", "outbox")),
            Map.entry("idempotency", List.of("error", "event", "internal", "internal.store", "message", "outbox")),
            Map.entry("idempotency.http", List.of("error", "idempotency", "internal")),
            Map.entry("admin", List.of("error", "internal", "message")),
            Map.entry("event", List.of("admin", "internal", "message")),
            Map.entry("health", List.of("admin", "error", "event", "internal", "message")),
            Map.entry("transport", List.of("error", "message")),
            Map.entry("transport.http", List.of("error", "internal", "message", "transport")),
            Map.entry(
                    "jdbc",
                    List.of(
                            "admin",
                            "encryption",
                            "error",
                            "event",
                            "inbox",
                            "internal",
                            "internal.store",
                            "internal.trace",
                            "jdbc.command",
                            "jdbc.diagnosis",
                            "jdbc.inbox",
                            "jdbc.outbox",
                            "jdbc.schema",
                            "jdbc.sql",
                            "message",
                            "outbox",
                            "store")),
            Map.entry("jdbc.command", List.of("error", "internal.store", "jdbc.sql", "outbox")),
            Map.entry("jdbc.diagnosis", List.of("admin", "error", "jdbc.sql")),
            Map.entry(
                    "jdbc.inbox",
                    List.of(
                            "error",
                            "event",
                            "inbox",
                            "internal",
                            "internal.store",
                            "internal.trace",
                            "jdbc.outbox",
                            "jdbc.sql",
                            "message",
                            "outbox",
                            "store",
                            "trace")),
            Map.entry(
                    "jdbc.outbox",
                    List.of(
                            "encryption",
                            "error",
                            "event",
                            "internal",
                            "internal.store",
                            "internal.trace",
                            "jdbc.sql",
                            "message",
                            "outbox",
                            "store")),
            Map.entry("jdbc.schema", List.of("error", "jdbc.sql", "store")),
            Map.entry("jdbc.sql", List.of("error")),
            Map.entry(
                    "dispatch",
                    List.of(
                            "admin",
                            "encryption",
                            "error",
                            "event",
                            "inbox",
                            "internal",
                            "internal.event",
                            "internal.store",
                            "internal.trace",
                            "message",
                            "outbox",
                            "retry",
                            "store",
                            "trace",
                            "transport"))));

    /** Every public type. A new one is a promise to users: add it here when it is meant as one. */
    private static final Map<String, Set<String>> PUBLIC_TYPES = new TreeMap<>(Map.ofEntries(
            Map.entry("", Set.of("Postrider", "PostriderBuilder")),
            Map.entry(
                    "admin",
                    Set.of(
                            "Action",
                            "Admin",
                            "AuditEntry",
                            "BlockedKey",
                            "Change",
                            "ChangeResult",
                            "CommandAdmin",
                            "FailedAttempt",
                            "FailureGroup",
                            "FailureGroups",
                            "Filter",
                            "Count",
                            "InboxStatus",
                            "LaneStatus",
                            "MessageDetail",
                            "MessagePage",
                            "MessageSummary",
                            "NodeStatus",
                            "Operation",
                            "OperationState",
                            "OperationTerms",
                            "Paging",
                            "OldestTransaction",
                            "Repair",
                            "Sample",
                            "StoredCommand",
                            "StoredMessage",
                            "TopicSample",
                            "TopicStatus")),
            Map.entry(
                    "dispatch",
                    Set.of("DispatchOptions", "Doorbell", "DurableInbox", "ExpiryPolicy", "FailurePolicy", "Topic")),
            Map.entry(
                    "encryption",
                    Set.of(
                            "AesGcmPayloadCipher",
                            "CipherUnavailableException",
                            "EncryptedPayload",
                            "PayloadCipher",
                            "PayloadContext",
                            "PayloadDecryptionException",
                            "PayloadEncryptionException")),
            Map.entry(
                    "error",
                    Set.of(
                            "InvalidConfigurationException",
                            "InvalidMessageException",
                            "PostriderException",
                            "SchemaMismatchException",
                            "StoreException",
                            "StoreUnavailableException",
                            "TransactionConflictException",
                            "UnknownTopicException",
                            "UnusableConnectionException")),
            Map.entry("event", Set.of("Event", "EventListener", "NodeLoad")),
            Map.entry("health", Set.of("Health", "HealthCheck", "HealthThresholds", "RollingWindow")),
            Map.entry(
                    "idempotency",
                    Set.of(
                            "AesGcmCipher",
                            "Command",
                            "CommandLostException",
                            "CommandOptions",
                            "CommandRejectedException",
                            "CommandResult",
                            "CommandTransaction",
                            "CommandWork",
                            "Commands",
                            "InvalidCommandException",
                            "LeasedCommand",
                            "LeasedWork",
                            "OutcomeProbe",
                            "ResultCipher",
                            "ResultCodec",
                            "ResultCodecs",
                            "UnreadableResultException")),
            Map.entry(
                    "idempotency.http",
                    Set.of(
                            "ResponseBuffer",
                            "KeyedResponse",
                            "KeyedRequest",
                            "IdempotencyKey",
                            "KeyedEndpoint",
                            "KeyedHandler",
                            "LeasedHandler")),
            Map.entry("inbox", Set.of("Accepted", "Inbox", "InboxWork", "MessageHandler", "ProcessResult")),
            Map.entry(
                    "message",
                    Set.of("DeterministicKey", "Message", "MessageId", "Payload", "TopicName", "TraceContext")),
            Map.entry("outbox", Set.of("Cancellation", "Enqueued", "Outbox", "UnitOfWork", "Work")),
            Map.entry("retry", Set.of("RetryPolicy")),
            Map.entry(
                    "store",
                    Set.of(
                            "Claim",
                            "ClaimRequest",
                            "DeadReason",
                            "LaneOutcome",
                            "Lease",
                            "MessageStore",
                            "Outcome",
                            "Settlement",
                            "TableOptions")),
            Map.entry("trace", Set.of("TracedEnd", "TracedSpan", "TracedStep", "Tracing")),
            Map.entry(
                    "transport",
                    Set.of(
                            "Delivery",
                            "DeliveryHandler",
                            "DeliveryResult",
                            "PermanentFailureException",
                            "RetryLaterException",
                            "Transport")),
            Map.entry("transport.http", Set.of("Webhook", "WebhookVerifier"))));

    static Stream<String> packages() {
        return DEPENDENCIES.keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("packages")
    void packageUsesOnlyItsDependencies(String name) {
        Set<String> known = new TreeSet<>(DEPENDENCIES.getOrDefault(name, List.of()));
        known.add(name);
        classes()
                .that()
                .resideInAPackage(ROOT + "." + name)
                .should()
                .onlyDependOnClassesThat(describe(
                        "are in " + known + " or outside core",
                        type -> !isInCore(type) || known.contains(packageOf(type))))
                .check(CORE);
    }

    @Test
    void everyPackageHasItsDependencies() {
        assertThat(CORE.stream().map(ArchitectureTest::packageOf).filter(name -> !name.isEmpty()))
                .containsAll(DEPENDENCIES.keySet())
                .allMatch(DEPENDENCIES::containsKey);
    }

    @Test
    void documentationListsTheSameDependencies() throws IOException {
        Pattern row = Pattern.compile("\\| `([a-z.]+)` \\| [^|]+ \\|((?: `[a-z.]+`)*) \\|");
        Map<String, List<String>> listed = new TreeMap<>();
        for (String line : Files.readAllLines(Path.of("../docs/how-it-works.md"))) {
            Matcher matcher = row.matcher(line);
            if (matcher.matches()) {
                listed.put(
                        matcher.group(1),
                        Stream.of(matcher.group(2).replace("`", "").strip().split(" "))
                                .filter(name -> !name.isEmpty())
                                .toList());
            }
        }
        assertThat(listed).isEqualTo(DEPENDENCIES);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(CORE);
    }

    @Test
    void onlyTheJdbcPackagesAndTheEntryPointsUseJdbc() {
        noClasses()
                .that(describe(
                        "are neither in jdbc nor an entry point bound to a connection",
                        type -> !Set.of(
                                                "Postrider",
                                                "PostriderBuilder",
                                                "UnitOfWork",
                                                "Commands",
                                                "Inbox",
                                                "InboxStore",
                                                "CommandRunner",
                                                "JoinedCommandTransaction",
                                                "TracedCommands",
                                                "Transactions")
                                        .contains(outermost(type).getSimpleName())
                                && !isInJdbc(type)))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.sql..", "javax.sql..")
                .check(CORE);
    }

    @Test
    void onlyDispatchStartsThreads() {
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + ".dispatch")
                .and()
                .doNotHaveFullyQualifiedName(ROOT + ".internal.SystemPlatform")
                .and()
                .doNotHaveFullyQualifiedName(ROOT + ".internal.OwnedThread")
                .should()
                .dependOnClassesThat(describe("make threads", ArchitectureTest::makesThreads))
                .orShould()
                .callConstructorWhere(isOf(Thread.class))
                .orShould()
                .callMethodWhere(isOf(Thread.class)
                        .and(describe("that starts it", call -> call.getName().equals("start"))))
                .check(CORE);
    }

    /** Looking up the name of a webhook's host blocks and has no other way, so a route may. */
    @Test
    void onlyDispatchAndRoutesUseThreadsOfTheCommonPool() {
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + ".dispatch")
                .and()
                .doNotHaveFullyQualifiedName(ROOT + ".transport.http.Route")
                .should()
                .callMethodWhere(isOf(CompletionStage.class)
                        .and(describe(
                                "that runs elsewhere", call -> call.getName().endsWith("Async"))))
                .orShould()
                .dependOnClassesThat(assignableTo(ForkJoinPool.class))
                .check(CORE);
    }

    private static boolean makesThreads(JavaClass type) {
        return type.isEquivalentTo(Executors.class)
                || type.isAssignableTo(ThreadPoolExecutor.class)
                || type.isEquivalentTo(Timer.class);
    }

    @Test
    void noClassSleepsOrWritesToTheConsole() {
        noClasses()
                .should()
                .callMethod(Thread.class, "sleep", long.class)
                .orShould()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err")
                .check(CORE);
    }

    @Test
    void coreNeedsTheJdkSlf4jAndJspecifyOnly() {
        classes()
                .that()
                .resideOutsideOfPackage(ROOT + ".idempotency.http")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(ROOT + "..", "java..", "javax..", "org.slf4j..", "org.jspecify..")
                .check(CORE);
    }

    /** The JDK's own server: a module of every JDK, but not of every runtime image. */
    @Test
    void onlyIdempotencyKeysOverHttpUseTheServerOfTheJdk() {
        classes()
                .that()
                .resideInAPackage(ROOT + ".idempotency.http")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(ROOT + "..", "java..", "com.sun.net.httpserver", "org.slf4j..", "org.jspecify..")
                .check(CORE);
    }

    @Test
    void everyPackageIsNullMarked() {
        assertThat(CORE.getPackage(ROOT).getSubpackagesInTree())
                .isNotEmpty()
                .allMatch(name -> name.isAnnotatedWith(NullMarked.class), "is null-marked");
        JavaPackage root = CORE.getPackage(ROOT);
        assertThat(root.isAnnotatedWith(NullMarked.class)).isTrue();
    }

    @Test
    void jdbcAsksTheDatabaseForTheTime() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".jdbc..")
                .should(readAClock())
                .check(CORE);
    }

    @Test
    void retryDelaysDependOnNoClock() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".retry")
                .should(readAClock())
                .orShould()
                .callMethod(System.class, "nanoTime")
                .check(CORE);
    }

    private static ArchCondition<JavaClass> readAClock() {
        return callMethodWhere(describe("it reads a clock", call -> {
            AccessTarget target = call.getTarget();
            boolean now = target.getName().equals("now")
                    && target.getOwner().getPackageName().startsWith("java.time");
            boolean millis = target.getName().equals("currentTimeMillis");
            return now || millis || target.getOwner().isAssignableTo(Clock.class);
        }));
    }

    @Test
    void onlyTheGuardOfStatementsUsesReflection() {
        noClasses()
                .that()
                .doNotHaveSimpleName("GuardedStatement") // a dynamic proxy, for the reasons of decision 32
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.lang.reflect")
                .orShould()
                .callMethod(Class.class, "forName", String.class)
                .orShould()
                .dependOnClassesThat(assignableTo(ServiceLoader.class))
                .check(CORE);
    }

    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC);
    }

    /** In a package that the module does not export, or marked. */
    private static boolean isInternal(JavaClass type) {
        return packageOf(type).matches("(internal|jdbc)(\\..*)?")
                || outermost(type).isAnnotatedWith(Internal.class);
    }

    @Test
    void internalTypesAppearInNoSignatureOutside() {
        DescribedPredicate<JavaClass> internal = describe("are internal", ArchitectureTest::isInternal);
        List<JavaCodeUnit> exposed = CORE.stream()
                .filter(type -> !internal.test(type) && isPublic(type) && isPublic(outermost(type)))
                .flatMap(type -> type.getCodeUnits().stream())
                .filter(unit -> unit.getModifiers().contains(JavaModifier.PUBLIC)
                        || unit.getModifiers().contains(JavaModifier.PROTECTED))
                .filter(unit -> !unit.isAnnotatedWith(Internal.class))
                .filter(unit -> internal.test(unit.getRawReturnType())
                        || unit.getRawParameterTypes().stream().anyMatch(internal))
                .toList();
        assertThat(exposed).isEmpty();
    }

    @Test
    void moduleExportsThePackagesOfTheApi() {
        Set<String> exported = exports()
                .filter(exports -> !exports.isQualified())
                .map(exports -> exports.source().substring(ROOT.length()).replaceFirst("^\\.", ""))
                .collect(toCollection(TreeSet::new));
        assertThat(exported).isEqualTo(PUBLIC_TYPES.keySet());
    }

    @Test
    void onlyTheAdminModuleSeesAnInternalPackage() {
        assertThat(exports().filter(ModuleDescriptor.Exports::isQualified))
                .extracting(ModuleDescriptor.Exports::source, ModuleDescriptor.Exports::targets)
                .containsExactly(tuple(ROOT + ".internal", Set.of(ROOT + ".admin.rest")));
    }

    private static Stream<ModuleDescriptor.Exports> exports() {
        return ModuleFinder.of(Path.of("target/classes"))
                .find(ROOT + ".core")
                .orElseThrow()
                .descriptor()
                .exports()
                .stream();
    }

    @Test
    void publicTypesAreThoseThatWereDecidedOn() {
        Map<String, Set<String>> found = CORE.stream()
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC) && type.isTopLevelClass())
                .filter(type -> !isInternal(type))
                .collect(groupingBy(
                        ArchitectureTest::packageOf,
                        TreeMap::new,
                        mapping(JavaClass::getSimpleName, toCollection(TreeSet::new))));
        assertThat(found).isEqualTo(PUBLIC_TYPES);
    }

    @Test
    void machineryIsFinal() {
        classes()
                .that()
                .arePackagePrivate()
                .and()
                .areTopLevelClasses()
                .and()
                .areNotInterfaces()
                .and()
                .doNotHaveModifier(JavaModifier.ABSTRACT)
                .and(describe(
                        "have no subclass", type -> type.getAllSubclasses().isEmpty()))
                .and()
                .doNotHaveSimpleName("package-info")
                .should()
                .haveModifier(JavaModifier.FINAL)
                .check(CORE);
    }

    /**
     * A simple name says which type is meant. Exceptions are the names that a reader expects behind the name of their outer
     * type: the cases of a sealed interface ({@code Enqueued.Created}), and {@code Builder}, {@code Cases}, {@code State}.
     */
    @Test
    void noTwoTypesHaveTheSameSimpleName() {
        Set<String> expectedInManyTypes = Set.of("Builder", "Cases", "State");
        Map<String, List<String>> names = CORE.stream()
                .filter(type ->
                        !type.isAnonymousClass() && !type.getSimpleName().equals("package-info"))
                .filter(type -> !expectedInManyTypes.contains(type.getSimpleName()) || type.isTopLevelClass())
                .filter(type -> !isCaseOfItsOuterType(type))
                .collect(groupingBy(JavaClass::getSimpleName, TreeMap::new, mapping(JavaClass::getName, toList())));
        assertThat(names).hasSizeGreaterThan(300);
        assertThat(names.values()).allSatisfy(types -> assertThat(types).hasSize(1));
    }

    private static boolean isCaseOfItsOuterType(JavaClass type) {
        return type.getEnclosingClass()
                .filter(outer -> outer.isInterface() && type.isAssignableTo(outer.getName()))
                .isPresent();
    }

    /** More parameters than these are a concept without a name. The components of a record are named where it is made. */
    private static final int MOST_PARAMETERS = 5;

    /** Records that are not part of the API and have more components: rows, what is written into one, and the conditions that select them. */
    private static final Set<String> WIDE_ROWS = Set.of(
            "AcquiredLane",
            "ArchivedRow",
            "ActionRow",
            "ClaimedRow",
            "CommandClaim",
            "CommandRecord",
            "Group",
            "MessageAttributes",
            "MessageConditions",
            "Move",
            "Row",
            "StoredTexts",
            "WaitingRow");

    @Test
    void constructorsAndMethodsHaveFewParameters() {
        assertThat(CORE.stream()
                        .filter(type -> !type.isEnum())
                        .flatMap(type -> type.getCodeUnits().stream())
                        .filter(unit ->
                                !(unit.isConstructor() && unit.getOwner().isRecord()))
                        .filter(unit -> !unit.getModifiers().contains(JavaModifier.SYNTHETIC))
                        .filter(unit -> parameters(unit) > MOST_PARAMETERS))
                .isEmpty();
    }

    /** The constructor of an inner class has its outer object and the variables that it captures as parameters too. */
    private static int parameters(JavaCodeUnit unit) {
        return unit.isConstructor()
                ? unit.getParameterTypes().size()
                : unit.getRawParameterTypes().size();
    }

    @Test
    void wideRecordsAreDataOfTheApiOrRows() {
        assertThat(CORE.stream()
                        .filter(type -> type.isRecord() && (isInternal(type) || !isPublic(type)))
                        .filter(type -> type.getFields().stream()
                                        .filter(field -> !field.getModifiers().contains(JavaModifier.STATIC))
                                        .count()
                                > MOST_PARAMETERS)
                        .map(JavaClass::getSimpleName))
                .containsExactlyInAnyOrderElementsOf(WIDE_ROWS);
    }

    private static DescribedPredicate<JavaAccess<?>> isOf(Class<?> type) {
        return describe(
                "of " + type.getSimpleName(), call -> call.getTargetOwner().isAssignableTo(type));
    }

    private static boolean isInCore(JavaClass type) {
        return type.getPackageName().equals(ROOT) || type.getPackageName().startsWith(ROOT + ".");
    }

    /** In the package of the database, or in one below it. */
    private static boolean isInJdbc(JavaClass type) {
        return packageOf(type).equals("jdbc") || packageOf(type).startsWith("jdbc.");
    }

    /** The package below the root; empty for the root. */
    private static String packageOf(JavaClass type) {
        String name = type.getPackageName();
        return name.length() > ROOT.length() ? name.substring(ROOT.length() + 1) : "";
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
    }
}
