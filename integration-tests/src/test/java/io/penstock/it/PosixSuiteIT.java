package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * pjdfstest, which checks a file system's calls against POSIX. On a mount every case passes that passes on a local file
 * system, except those in a list, each with its reason. A skipped case has not passed.
 */
class PosixSuiteIT {
    private static final Duration LIMIT = Duration.ofMinutes(8);
    private static final String EXCEPTIONS = "pjdfstest-exceptions.txt";

    /** Before a case that may fail, but need not. */
    private static final String MAY_FAIL = "may-fail ";

    /** The minimum number of cases that pass on a mount, without skipped ones. */
    private static final int LEAST_PASSED = 280;

    /** A report with fewer cases is invalid. */
    private static final int ALL_CASES = 390;

    /** Fails through libfuse 2 if the kernel asks for a removed file's attributes, see docs/SEMANTICS.md. */
    private static final String NEEDS_A_NAME = "unlink::open_file_not_freed";

    /** Through libfuse 2 a new link does not show two links, see docs/SEMANTICS.md. */
    private static final List<String> KINDS = List.of("regular", "fifo", "block", "char", "socket");

    /** A line of its report: {@code chmod::errno::regular    FAILED}. */
    private static final Pattern VERDICT = Pattern.compile("(?m)^(\\w+(?:::\\w+)+) +(ok|FAILED|skipped)$");

    /** The users that it becomes, and the resolution of a file system's times. */
    private static final String CONFIGURATION = """
        [settings]
        naptime = 0.1
        [dummy_auth]
        entries = [["nobody","nogroup"],["daemon","daemon"],["games","games"]]
        """;

    @TempDir
    private static Path scratch;

    @Test
    void pjdfstest_onAMount_failsWhereTheListSaysSo() throws Exception {
        Optional<Path> program = program();
        assumeTrue(program.isPresent(), "no pjdfstest: bin/test gets it where there is Cargo");
        assumeTrue("root".equals(System.getProperty("user.name")), "pjdfstest becomes other users: only root may");
        Path configuration = Files.writeString(scratch.resolve("pjdfstest.toml"), CONFIGURATION);
        Path disk = Files.createDirectory(scratch.resolve("reference"));
        // At the same time: both mostly wait for clocks to advance.
        CompletableFuture<Set<String>> running =
                CompletableFuture.supplyAsync(() -> passed(program.get(), configuration, disk));
        Set<String> onMount;
        try (WrittenBucket bucket = new WrittenBucket(scratch, "-o", "allow-other")) {
            onMount = passed(program.get(), configuration, bucket.folder("suite"));
        }
        Set<String> onDisk = running.join();
        System.out.printf("PosixSuiteIT: %d cases pass on the mount, %d on the disk%n", onMount.size(), onDisk.size());

        assertThat(onMount).hasSizeGreaterThanOrEqualTo(LEAST_PASSED);
        Set<String> onDiskAlone = new TreeSet<>(onDisk);
        onDiskAlone.removeAll(onMount);
        onDiskAlone.removeAll(mayFail());
        assertThat(onDiskAlone).as("pass on the disk alone").isEqualTo(mustFail());
    }

    private static Set<String> passed(Path program, Path configuration, Path folder) {
        Program.Result result = Program.run(
                folder, LIMIT, List.of(program.toString(), "-c", configuration.toString(), "-p", folder.toString()));
        List<MatchResult> verdicts = VERDICT.matcher(result.out()).results().toList();
        assertThat(verdicts).as(result.out()).hasSizeGreaterThan(ALL_CASES);
        return verdicts.stream()
                .filter(verdict -> verdict.group(2).equals("ok"))
                .map(verdict -> verdict.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> mustFail() {
        Set<String> cases = listed(line -> !line.startsWith(MAY_FAIL));
        if (MountedBucket.BINDING.equals("jnr")) {
            KINDS.forEach(kind -> cases.add("link::remove_link::" + kind));
        }
        return cases;
    }

    private static Set<String> mayFail() {
        Set<String> cases = listed(line -> line.startsWith(MAY_FAIL)).stream()
                .map(line -> line.substring(MAY_FAIL.length()))
                .collect(Collectors.toCollection(TreeSet::new));
        if (MountedBucket.BINDING.equals("jnr")) {
            cases.add(NEEDS_A_NAME);
        }
        return cases;
    }

    private static Set<String> listed(Predicate<String> wanted) {
        try (InputStream list = Objects.requireNonNull(PosixSuiteIT.class.getResourceAsStream(EXCEPTIONS))) {
            return new String(list.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .filter(wanted)
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<Path> program() {
        Path ours = Path.of(System.getProperty("user.home"), ".cache", "penstock", "bin", "pjdfstest");
        return Stream.concat(
                        Stream.ofNullable(System.getenv("PENSTOCK_PJDFSTEST")).map(Path::of), Stream.of(ours))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
