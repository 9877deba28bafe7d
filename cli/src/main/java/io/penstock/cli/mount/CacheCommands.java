package io.penstock.cli.mount;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cache.Pins;
import io.penstock.cli.control.ControlCommand;
import io.penstock.cli.process.Reason;
import io.penstock.cli.process.RefusedException;
import io.penstock.metadata.Directory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The commands of a mount's control socket that are about the cache's content. Those that look up names start a {@link Job} and
 * return its number. Safe for use by any number of threads.
 */
final class CacheCommands {
    private final Contents contents;
    private final Jobs jobs;
    private final Path mountPoint;

    CacheCommands(Contents contents, Jobs jobs, Path mountPoint) {
        this.contents = contents;
        this.jobs = jobs;
        this.mountPoint = mountPoint;
    }

    Map<String, ControlCommand> byName() {
        return Map.of(
                "why",
                new WhyAnswer(contents, mountPoint)::of,
                "warm",
                this::warm,
                "unpin",
                this::unpin,
                "evict",
                this::evict,
                "residency",
                arguments -> started(new ResidencyJob(contents, selection(arguments))),
                "jobs",
                _ -> jobs.all(),
                "job",
                arguments -> jobs.status(number(arguments)),
                "cancel",
                arguments -> jobs.cancel(number(arguments)));
    }

    /** Begins to bring in what the settings name. */
    void warm(List<String> paths, boolean pin) throws RefusedException {
        FileSelection files = new FileSelection(mountPoint, paths, null);
        files.check();
        Object _ =
                started(new WarmJob(contents, files, new WarmJob.Options(0, pin ? Pins.UNTIL_UNPINNED : null, false)));
    }

    private Object warm(JsonNode arguments) throws RefusedException {
        JsonNode until = arguments.path("pinUntil");
        return started(new WarmJob(
                contents,
                selection(arguments),
                new WarmJob.Options(
                        arguments.path("bandwidth").asLong(),
                        until.canConvertToLong() ? until.asLong() : null,
                        arguments.path("isListTemporary").asBoolean())));
    }

    private Object evict(JsonNode arguments) throws RefusedException {
        return started(new EvictJob(
                contents, selection(arguments), arguments.path("force").asBoolean()));
    }

    private Object started(Job job) throws RefusedException {
        return Map.of("job", jobs.start(job));
    }

    /** By their keys: neither the store nor the names are asked. */
    private Object unpin(JsonNode arguments) throws RefusedException {
        FileSelection files = selection(arguments);
        Directory root = contents.tree().root();
        Set<String> keys = new HashSet<>();
        for (String key : contents.cache().pins().keys(contents.namespace())) {
            if (files.contains(key, root)) {
                keys.add(key);
            }
        }
        try {
            return Map.of("files", contents.cache().pins().unpin(contents.namespace(), keys::contains));
        } catch (IOException e) {
            throw new RefusedException("the cache's disk does not take it: " + Reason.of(e));
        }
    }

    private FileSelection selection(JsonNode arguments) throws RefusedException {
        List<String> paths = new ArrayList<>();
        arguments.path("paths").forEach(path -> paths.add(path.asText()));
        FileSelection files = new FileSelection(mountPoint, paths, list(arguments));
        if (paths.isEmpty() && files.list() == null) {
            throw new RefusedException("paths: must name a file or folder; . stands for all of the mount");
        }
        files.check();
        return files;
    }

    private static @Nullable Path list(JsonNode arguments) {
        return arguments.hasNonNull("list") ? Path.of(arguments.path("list").asText()) : null;
    }

    private static int number(JsonNode arguments) {
        return arguments.path("job").asInt();
    }
}
