package io.penstock.serve.mount;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cache.Residency;
import io.penstock.cache.Residency.Place;
import io.penstock.cache.Residency.Run;
import io.penstock.cache.disk.Pins;
import io.penstock.core.ObjectVersion;
import io.penstock.core.Printable;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.prefetch.LastReads;
import io.penstock.prefetch.ReadState;
import io.penstock.serve.control.FileReport;
import io.penstock.settings.process.RefusedException;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile.Uncommitted;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports where a file's bytes are and how it is read. An unknown name is looked up, with a short timeout. */
record WhyAnswer(MountedModules modules, Path mountPoint) {
    private static final Logger log = LoggerFactory.getLogger(WhyAnswer.class);

    /** The timeout for the store's response. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private static final int MOST_RANGES = 100;
    private static final double NANOS = 1e9;

    /** What a path leads to. */
    private sealed interface Found {
        /** @param answer a file */
        record File(Directory parent, String name, Answer answer) implements Found {}

        /** Why it is not a file. */
        record Other(String why) implements Found {}
    }

    /** A {@link FileReport}, or a {@link FileReport.Written}. */
    Object of(JsonNode arguments) throws RefusedException {
        String path = arguments.path("path").asText();
        return switch (find(path)) {
            case Found.File(Directory parent, String name, FileEntry(StoredObject object)) ->
                report(path, object.version(), modules.files().isPassedThrough(parent, name));
            case Found.File(Directory parent, String name, var _) -> written(path, parent.key(name));
            case Found.Other(String why) -> throw new RefusedException(Printable.text(why));
        };
    }

    private Found find(String path) throws RefusedException {
        List<String> names = new FileSelection(mountPoint, List.of(), null).names(path);
        CompletableFuture<Found> found = new CompletableFuture<>();
        PathWalk walk = new PathWalk(modules.tree(), modules.links(), new PathWalk.End() {
            @Override
            public void file(Directory parent, String name, Answer answer) {
                found.complete(new Found.File(parent, name, answer));
            }

            @Override
            public void folder(Directory folder, PathWalk.Elsewhere elsewhere) {
                found.complete(new Found.Other(path + " is a folder; name a file in it"));
            }

            @Override
            public void problem(String link, String why) {
                found.complete(new Found.Other(link + ": " + why));
            }
        });
        // A platform thread: a link may lead through another file system that hangs, which would block a carrier.
        Thread thread = Thread.ofPlatform().daemon().name("why").start(() -> {
            try {
                if (!walk.along(new PathPattern(names, names.size()))) {
                    found.complete(new Found.Other(path + ": no such file"));
                }
            } catch (ObjectStoreException e) {
                found.complete(new Found.Other(path + ": " + e.getMessage()));
            } catch (Exception e) {
                log.debug("Cannot look up {}", path, e);
            }
        });
        try {
            if (thread.join(PATIENCE) && found.isDone()) {
                return found.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        thread.interrupt();
        throw new RefusedException(
                Printable.text(path) + " is not known here, and the server did not respond to all lookups of its names"
                        + " within " + PATIENCE.toSeconds() + " seconds");
    }

    private FileReport.Written written(String path, String key) throws RefusedException {
        Writeback writeback = modules.writeback();
        Uncommitted file = writeback == null ? null : writeback.uncommitted(key);
        if (file == null) {
            throw new RefusedException(Printable.text(path) + " has just been written or removed: try again");
        }
        return new FileReport.Written(
                path,
                key,
                lower(file.progress()),
                file.size(),
                file.writtenBytes(),
                file.stagedBytes(),
                file.uploadedBytes());
    }

    private FileReport report(String path, ObjectVersion version, boolean isPassedThrough) {
        Residency residency = modules.cache().residency(modules.namespace(), version);
        OptionalLong pinnedUntil = modules.cache().pins().until(modules.namespace(), version);
        ReadState reads = modules.fetcher().readState(version);
        List<Run> missing = missing(residency);
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

    /** The runs that a sequential read fetches, including partly cached pages. Adjacent runs are merged. */
    private static List<Run> missing(Residency residency) {
        List<Run> missing = new ArrayList<>();
        for (Run run : residency.runs()) {
            if (run.place() != Place.MISSING && run.place() != Place.SECTORS) {
                continue;
            }
            boolean goesOn = !missing.isEmpty() && missing.getLast().end() == run.offset();
            long start = goesOn ? missing.removeLast().offset() : run.offset();
            missing.add(new Run(start, run.end(), Place.MISSING));
        }
        return missing;
    }

    /** When a pin ends, in whole seconds; null if there is none, or if it lasts until it is removed. */
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
