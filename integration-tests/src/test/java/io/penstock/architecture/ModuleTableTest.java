package io.penstock.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The table of modules in docs/ARCHITECTURE.md has the modules of the build, and what each uses. */
class ModuleTableTest {
    private static final Path ROOT = Path.of("..");

    /** Nothing but tests: what they use is in its row. */
    private static final String INTERLEAVING_TESTS = "interleaving-tests";

    private static final Pattern MODULE = Pattern.compile("<module>(.*)</module>");

    /** A module on which another depends, and the rest of that entry. */
    private static final Pattern DEPENDENCY =
            Pattern.compile("</groupId>\\s*<artifactId>penstock-(.*)</artifactId>((?s).*?)</dependency>");

    /** A module, its content, and what it uses. */
    private static final Pattern ROW = Pattern.compile("\\| `([a-z0-9-]+)` \\| .* \\| ([a-z0-9, -]+|–) \\|");

    @Test
    void usedModules_ofEachModule_areInItsRow() throws IOException {
        assertThat(table()).isEqualTo(poms());
    }

    @Test
    void testsOfAModule_useNoOtherModulesThanTheKit() throws IOException {
        Map<String, Set<String>> others = new TreeMap<>();
        Matcher modules = MODULE.matcher(Files.readString(ROOT.resolve("pom.xml")));
        while (modules.find()) {
            Set<String> used = used(modules.group(1), true);
            used.remove("testing");
            if (!used.isEmpty()
                    && !Set.of("integration-tests", INTERLEAVING_TESTS).contains(modules.group(1))) {
                others.put(modules.group(1), used);
            }
        }
        assertThat(others).isEqualTo(Map.of("object-store", Set.of("embedded-s3")));
    }

    private static Map<String, Set<String>> table() throws IOException {
        Map<String, Set<String>> used = new TreeMap<>();
        for (String line : Files.readAllLines(ROOT.resolve("docs/ARCHITECTURE.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                String cell = row.group(2);
                used.put(row.group(1), cell.equals("–") ? Set.of() : Set.of(cell.split(", ")));
            }
        }
        return used;
    }

    private static Map<String, Set<String>> poms() throws IOException {
        Map<String, Set<String>> used = new TreeMap<>();
        Matcher modules = MODULE.matcher(Files.readString(ROOT.resolve("pom.xml")));
        while (modules.find()) {
            String module = modules.group(1);
            used.put(module, used(module, false));
        }
        used.put("bom", Set.of());
        used.put("integration-tests", Set.of("all"));
        used.put(INTERLEAVING_TESTS, used(INTERLEAVING_TESTS, true));
        return used;
    }

    private static Set<String> used(String module, boolean byTests) throws IOException {
        Set<String> used = new TreeSet<>();
        String pom = Files.readString(ROOT.resolve(module).resolve("pom.xml"));
        Matcher dependencies = DEPENDENCY.matcher(pom);
        while (dependencies.find()) {
            if (dependencies.group(2).contains("<scope>test</scope>") == byTests) {
                used.add(dependencies.group(1));
            }
        }
        return used;
    }
}
