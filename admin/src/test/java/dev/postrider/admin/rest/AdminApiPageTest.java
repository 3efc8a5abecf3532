package dev.postrider.admin.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Keeps {@code docs/admin-api.md} and the OpenAPI document true. */
final class AdminApiPageTest {

    private static final Path PAGE = Path.of("../docs/admin-api.md");

    private static final Pattern ROUTE =
            Pattern.compile("\\| `(GET|POST) (/v1[^`]*)` \\| (viewer|operator|admin)[^|]* \\| (yes|no) \\|.*");

    private static String document() {
        try (Fixture fixture = Fixture.onH2()) {
            RouteTable table = RouteTable.of(fixture.api());
            return OpenApi.of(table.all());
        }
    }

    @Test
    void pageListsTheRoutesOfTheDocument() throws Exception {
        List<String> listed = new ArrayList<>();
        for (String line : Files.readAllLines(PAGE)) {
            Matcher row = ROUTE.matcher(line);
            if (row.matches()) {
                listed.add(String.join(" ", row.group(1), row.group(2), row.group(3), row.group(4)));
            }
        }
        List<String> routes = RoleMatrixTest.routes(document()).stream()
                .map(route -> String.join(
                        " ",
                        route.method().toUpperCase(Locale.ROOT),
                        route.path(),
                        Words.of(route.least()),
                        route.isForTenants() ? "yes" : "no"))
                .toList();
        assertThat(listed).containsExactlyElementsOf(routes);
    }

    @Test
    void pageNamesEveryProblemAndEveryParameter() throws Exception {
        String page = Files.readString(PAGE);
        assertThat(Stream.of(ProblemType.values()))
                .allSatisfy(problem ->
                        assertThat(page).contains("| `" + problem.code() + "` | " + problem.status() + " |"));
        assertThat(FilterFields.ALL).allSatisfy(field -> assertThat(page).contains("`" + field.name() + "`"));
    }

    @Test
    void documentRefersToNothingThatItLacks() {
        String document = document();
        Map<String, Object> components = Client.object(Json.readDocument(document), "components");
        TreeSet<String> referred = new TreeSet<>();
        Matcher reference = Pattern.compile("#/components/schemas/(\\w+)").matcher(document);
        while (reference.find()) {
            referred.add(reference.group(1));
        }
        assertThat(Client.object(components, "schemas").keySet()).isEqualTo(referred);
    }
}
