import com.palantir.javaformat.java.Formatter;
import com.palantir.javaformat.java.FormatterException;
import com.palantir.javaformat.java.JavaFormatterOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Checks or applies the format of all Java files under a directory: {@code Format.java check|apply DIRECTORY}.
 *
 * <p>palantir-java-format knows Java 25 but for module imports, compact source files and the pattern {@code _} within a
 * record pattern, which has to be written {@code var _}
 * (<a href="https://github.com/palantir/palantir-java-format/pull/1707">1707</a>).
 */
final class Format {
    private static final JavaFormatterOptions OPTIONS = JavaFormatterOptions.builder()
            .style(JavaFormatterOptions.Style.PALANTIR)
            .build();

    private Format() {}

    public static void main(String[] args) throws IOException {
        boolean apply = switch (args[0]) {
            case "apply" -> true;
            case "check" -> false;
            default -> throw new IllegalArgumentException("neither check nor apply: " + args[0]);
        };
        Path root = Path.of(args[1]).toRealPath();
        List<String> problems = sources(root).parallelStream()
                .map(file -> format(root, file, apply))
                .filter(Objects::nonNull)
                .toList();
        problems.forEach(System.err::println);
        if (!problems.isEmpty()) {
            System.err.println(
                    "Run bin/format. It cannot parse module imports, nor _ in a record pattern (write var _).");
            System.exit(1);
        }
    }

    private static List<Path> sources(Path root) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                String name = directory.getFileName().toString();
                boolean skip = name.equals("target") || name.startsWith(".");
                return skip && !directory.equals(root) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(".java")) {
                    found.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }

    /** What is wrong with the file; null when nothing is, or no longer. */
    private static String format(Path root, Path file, boolean apply) {
        try {
            String before = Files.readString(file);
            Formatter formatter = Formatter.createFormatter(OPTIONS);
            String after = formatter.formatSourceAndFixImports(before);
            if (after.equals(before)) {
                return null;
            }
            if (!apply) {
                return "not formatted: " + root.relativize(file);
            }
            Files.writeString(file, after);
            return null;
        } catch (FormatterException e) {
            return root.relativize(file) + ": " + e.getMessage();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
