package io.penstock.cli.mount;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cache.Residency;
import io.penstock.cache.Residency.Place;
import io.penstock.cache.Residency.Run;
import io.penstock.cache.disk.Pins;
import io.penstock.cli.control.FileReport;
import io.penstock.cli.control.WrittenFileReport;
import io.penstock.cli.mount.SymbolicLinks.UnfollowedException;
import io.penstock.cli.process.RefusedException;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Tree;
import io.penstock.prefetch.LastReads;
import io.penstock.prefetch.ReadState;
import io.penstock.writeback.Uncommitted;
import io.penstock.writeback.Writeback;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Says where a file's bytes are and how it is read. A name that is not known here is looked up, for a moment only. */
record WhyAnswer(Contents contents, Path mountPoint) {
    /** The longest wait for the store's response. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private static final int MOST_RANGES = 100;
    private static final double NANOS = 1e9;

    /** A {@link FileReport}, or a {@link WrittenFileReport}. */
    Object of(JsonNode arguments) throws RefusedException {
        String path = arguments.path("path").asText();
        return of(path, new FileSelection(mountPoint, List.of(), null).names(path), 0);
    }

    /**
     * @param names from the mount point down
     * @param followed how many symbolic links have led to them
     */
    private Object of(String path, List<String> names, int followed) throws RefusedException {
        Directory directory = contents.tree().root();
        for (int i = 0; i < names.size(); i++) {
            boolean last = i == names.size() - 1;
            String name = names.get(i);
            Answer answer = lookup(directory, name, path);
            Optional<String> target = target(directory, name, answer, path);
            if (target.isPresent()) {
                try {
                    List<String> rest = names.subList(i + 1, names.size());
                    return of(path, contents.links().follow(directory, target.get(), rest, followed), followed + 1);
                } catch (UnfollowedException e) {
                    throw new RefusedException(
                            FileSelection.shown(contents.tree(), directory.key(name)) + ": " + e.getMessage());
                }
            }
            switch (answer) {
                case Directory child when !last -> directory = child;
                case FileEntry(var object)
                when last -> {
                    return report(path, object.version(), contents.files().isPassedThrough(directory, name));
                }
                case LiveFile _
                when last -> {
                    return written(path, directory.key(name));
                }
                case Directory _ -> throw new RefusedException(path + " is a folder; name a file in it");
                case FileEntry _, LiveFile _, Absent _ -> throw new RefusedException(path + ": there is no such file");
            }
        }
        throw new RefusedException(path + " is a folder; name a file in it");
    }

    private WrittenFileReport written(String path, String key) throws RefusedException {
        Writeback writeback = contents.writeback();
        Uncommitted file = writeback == null ? null : writeback.uncommitted(key);
        if (file == null) {
            throw new RefusedException(path + " has just been written or removed: try again");
        }
        return new WrittenFileReport(
                path,
                key,
                lower(file.progress()),
                file.size(),
                file.writtenBytes(),
                file.stagedBytes(),
                file.uploadedBytes());
    }

    private Answer lookup(Directory directory, String name, String path) throws RefusedException {
        Tree tree = contents.tree();
        Answer known = tree.lookupNow(directory, name);
        return known != null
                ? known
                : ask(() -> tree.lookup(directory, name), path + ": " + name + " is not known here");
    }

    private Optional<String> target(Directory directory, String name, Answer answer, String path)
            throws RefusedException {
        boolean canBeLink =
                answer instanceof FileEntry(var object) && object.version().size() == 0;
        return canBeLink
                ? ask(
                        () -> contents.links().target(directory, answer),
                        path + ": whether " + name + " is a symbolic link is not known here")
                : Optional.empty();
    }

    /** @param unknown what the user is told if the store does not respond */
    private static <T> T ask(Callable<T> question, String unknown) throws RefusedException {
        CompletableFuture<T> asked = new CompletableFuture<>();
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                asked.complete(question.call());
            } catch (Exception e) {
                asked.completeExceptionally(e);
            }
        });
        try {
            if (thread.join(PATIENCE) && !asked.isCompletedExceptionally()) {
                return asked.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        thread.interrupt();
        throw new RefusedException(unknown + ", and the server does not respond");
    }

    private FileReport report(String path, ObjectVersion version, boolean isPassedThrough) {
        Residency residency = contents.cache().residency(contents.namespace(), version);
        OptionalLong pinnedUntil = contents.cache().pins().until(contents.namespace(), version);
        ReadState reads = contents.fetcher().readState(version);
        List<Run> missing = residency.runs().stream()
                .filter(run -> run.place() == Place.MISSING || run.place() == Place.SECTORS)
                .toList();
        return new FileReport(
                path,
                version.key(),
                version.etag(),
                version.lastModified().toString(),
                version.size(),
                residency.diskBytes(),
                residency.memoryBytes(),
                pinnedUntil.isPresent(),
                end(pinnedUntil),
                isPassedThrough,
                residency.runs().stream()
                        .limit(MOST_RANGES)
                        .map(run -> new FileReport.Range(run.offset(), run.end(), lower(run.place())))
                        .toList(),
                residency.runs().size(),
                lower(reads.shape()),
                reads.readers(),
                reads.streams(),
                missing.stream()
                        .mapToLong(
                                run -> Math.ceilDiv(run.end(), reads.rangeBytes()) - run.offset() / reads.rangeBytes())
                        .sum(),
                missing.stream().mapToLong(Run::length).sum(),
                lastReads(reads.lastReads()));
    }

    /** When a pin ends, in whole seconds; null if there is none, or if it lasts until it is taken off. */
    static @Nullable String end(OptionalLong pinnedUntil) {
        return pinnedUntil.isEmpty() || pinnedUntil.getAsLong() == Pins.UNTIL_UNPINNED
                ? null
                : Instant.ofEpochSecond(pinnedUntil.getAsLong() / 1000).toString();
    }

    private static FileReport.LastReads lastReads(LastReads reads) {
        Map<String, Integer> sources = new LinkedHashMap<>();
        reads.sources().forEach((source, count) -> sources.put(lower(source), count));
        return new FileReport.LastReads(
                sources,
                reads.storeNanos() / NANOS,
                reads.nvmeNanos() / NANOS,
                reads.limitNanos() / NANOS,
                lower(reads.ahead()));
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
