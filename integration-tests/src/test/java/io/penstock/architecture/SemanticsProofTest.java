package io.penstock.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The tests that docs/SEMANTICS.md names as proofs of its promises exist. */
class SemanticsProofTest {
    private static final Path ROOT = Path.of("..");

    /** A test class, perhaps with test names, or further names of the class before it. A star is any part of a name. */
    private static final Pattern PROOF =
            Pattern.compile("`(?:([A-Z]\\w*(?:Test|IT|Contract))(?:\\.([\\w*]+))?|([a-z*][\\w*]*[_*][\\w*]*))`");

    /** In the formatter's layout: a member of a top-level type begins after four blanks. */
    private static final Pattern ANNOTATION = Pattern.compile(" {4}@(?:Test|ParameterizedTest|RepeatedTest)\\b.*");

    private static final Pattern METHOD = Pattern.compile(" {4}\\w[^(]*?(\\w+)\\(.*");

    private static final Pattern TYPE_NAME = Pattern.compile("\\b[A-Z]\\w*");

    /** Files that declare a type, by its name. */
    private final Map<String, List<Path>> files = sources();

    private record Proof(int line, String type, @Nullable String tests) {
        @Override
        public String toString() {
            return "line " + line + ": " + type + (tests == null ? "" : "." + tests);
        }
    }

    SemanticsProofTest() throws IOException {}

    private static Map<String, List<Path>> sources() throws IOException {
        List<Path> all = new ArrayList<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path folder : modules.map(module -> module.resolve("src"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> below = Files.walk(folder)) {
                    below.filter(file -> file.toString().endsWith(".java")).forEach(all::add);
                }
            }
        }
        return all.stream()
                .collect(Collectors.groupingBy(
                        file -> file.getFileName().toString().replace(".java", "")));
    }

    @Test
    void proofs_areTestsThatThereAre() throws IOException {
        List<Proof> proofs = proofs(Files.readAllLines(ROOT.resolve("docs").resolve("SEMANTICS.md")));

        assertThat(proofs).hasSizeGreaterThan(300);
        List<Proof> missing = new ArrayList<>();
        for (Proof proof : proofs) {
            if (!isThere(proof)) {
                missing.add(proof);
            }
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void proofs_ofALine_takeNamesWithoutAClassFromItsLastCell() {
        List<String> lines =
                List.of("", "| `no_test` | `ATest.first_*`, `second_*`, `BIT`, `*Third*` |", "`CTest`: `no_test`");

        assertThat(proofs(lines))
                .containsExactly(
                        new Proof(2, "ATest", "first_*"),
                        new Proof(2, "ATest", "second_*"),
                        new Proof(2, "BIT", null),
                        new Proof(2, "BIT", "*Third*"),
                        new Proof(3, "CTest", null));
    }

    private static List<Proof> proofs(List<String> lines) {
        List<Proof> proofs = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            int lastCell = line.startsWith("|") ? line.lastIndexOf(" | ") : line.length();
            String type = null;
            for (MatchResult each : PROOF.matcher(line).results().toList()) {
                if (each.group(1) != null) {
                    type = each.group(1);
                    proofs.add(new Proof(i + 1, type, each.group(2)));
                } else if (type != null && each.start() > lastCell) {
                    proofs.add(new Proof(i + 1, type, each.group(3)));
                }
            }
        }
        return proofs;
    }

    private boolean isThere(Proof proof) throws IOException {
        if (proof.tests == null) {
            return files.containsKey(proof.type);
        }
        Pattern name = Pattern.compile(proof.tests.replace("*", "\\w*"));
        return tests(proof.type).stream().anyMatch(test -> name.matcher(test).matches());
    }

    /** The names of a type's tests, including inherited ones. */
    private Set<String> tests(String type) throws IOException {
        Set<String> tests = new HashSet<>();
        Set<String> seen = new HashSet<>();
        Deque<String> left = new ArrayDeque<>(List.of(type));
        while (!left.isEmpty()) {
            String next = left.pop();
            if (seen.add(next)) {
                for (Path file : files.getOrDefault(next, List.of())) {
                    String source = Files.readString(file);
                    addTests(source, tests);
                    left.addAll(supertypes(next, source));
                }
            }
        }
        return tests;
    }

    private static void addTests(String source, Set<String> tests) {
        boolean isTest = false;
        for (String line : source.lines().toList()) {
            Matcher method = METHOD.matcher(line);
            if (ANNOTATION.matcher(line).matches()) {
                isTest = true;
            } else if (isTest && method.matches()) {
                tests.add(method.group(1));
                isTest = false;
            }
        }
    }

    /** The types named in the declaration: those that it extends, and some others. */
    private static List<String> supertypes(String type, String source) {
        return Pattern.compile("(?:class|interface) " + type + "\\b([^{]*)\\{")
                .matcher(source)
                .results()
                .flatMap(declaration -> TYPE_NAME.matcher(declaration.group(1)).results())
                .map(MatchResult::group)
                .toList();
    }
}
