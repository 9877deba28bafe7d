package io.penstock.cli.mount;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cache.Residency;
import io.penstock.cache.Residency.Place;
import io.penstock.cache.Residency.Run;
import io.penstock.cache.disk.Pins;
import io.penstock.cli.control.FileReport;
import io.penstock.cli.control.WrittenFileReport;
import io.penstock.cli.process.RefusedException;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.ObjectStoreException;
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
import java.util.OptionalLong;
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
        List<String> names = new FileSelection(mountPoint, List.of(), null).names(path);
        Directory directory = contents.tree().root();
        for (int i = 0; i < names.size(); i++) {
            boolean last = i == names.size() - 1;
            switch (lookup(directory, names.get(i), path)) {
                case Directory child when !last -> directory = child;
                case FileEntry(var object)
                when last -> {
                    return report(path, object.version(), contents.files().isPassedThrough(directory, names.get(i)));
                }
                case LiveFile _
                when last -> {
                    return written(path, directory.key(names.get(i)));
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
        if (known != null) {
            return known;
        }
        CompletableFuture<Answer> asked = new CompletableFuture<>();
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                asked.complete(tree.lookup(directory, name));
            } catch (ObjectStoreException | InterruptedException | RuntimeException e) {
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
        throw new RefusedException(path + ": " + name + " is not known here, and the server does not respond");
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
