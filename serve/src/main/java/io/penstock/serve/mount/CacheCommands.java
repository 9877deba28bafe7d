package io.penstock.serve.mount;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cache.disk.Pins;
import io.penstock.serve.control.ControlCommand;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import io.penstock.share.ShareGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control socket's commands about the cache's content. Those that look up names start a {@link Job} and return its
 * number. Thread-safe.
 */
final class CacheCommands {
    private static final Logger log = LoggerFactory.getLogger(CacheCommands.class);

    private final MountedModules modules;
    private final Jobs jobs;
    private final Path mountPoint;
    private final DiskCalls disk = new DiskCalls(DiskCalls.PATIENCE);

    CacheCommands(MountedModules modules, Jobs jobs, Path mountPoint) {
        this.modules = modules;
        this.jobs = jobs;
        this.mountPoint = mountPoint;
    }

    Map<String, ControlCommand> byName() {
        return Map.of(
                "why",
                new WhyAnswer(modules, mountPoint)::of,
                "warm",
                disk.bounded(this::warm),
                "unpin",
                disk.bounded(this::unpin),
                "evict",
                disk.bounded(this::evict),
                "residency",
                disk.bounded(arguments -> started(arguments, new ResidencyJob(modules, selection(arguments)))),
                "jobs",
                _ -> jobs.all(),
                "job",
                arguments -> jobs.status(number(arguments)),
                "cancel",
                arguments -> jobs.cancel(number(arguments)));
    }

    /** Starts to warm the files that the settings name. */
    void warm(List<String> paths, boolean pin) throws RefusedException {
        FileSelection files = new FileSelection(mountPoint, paths, null);
        files.check();
        int _ = jobs.start(new WarmJob(modules, files, new WarmJob.Options(0, pin ? Pins.UNTIL_UNPINNED : null)));
    }

    private Object warm(JsonNode arguments) throws RefusedException {
        if (arguments.path("group").asBoolean()) {
            return started(arguments, groupWarm(arguments));
        }
        JsonNode until = arguments.path("pinUntil");
        return started(
                arguments,
                new WarmJob(
                        modules,
                        selection(arguments),
                        new WarmJob.Options(
                                arguments.path("bandwidth").asLong(),
                                until.canConvertToLong() ? until.asLong() : null)));
    }

    private Job groupWarm(JsonNode arguments) throws RefusedException {
        Sharing sharing = modules.sharing();
        if (sharing == null) {
            throw new RefusedException(
                    "this mount does not share its cache; set share.peers (docs/SHARING.md), or warm without --group");
        }
        ShareGroup group = sharing.group();
        if (group == null) {
            String why = sharing.status().error();
            throw new RefusedException(
                    "this mount has not joined its cache group" + (why == null ? " yet" : ": " + why));
        }
        return new GroupWarmJob(
                modules,
                selection(arguments),
                group,
                arguments.path("bandwidth").asLong());
    }

    private Object evict(JsonNode arguments) throws RefusedException {
        return started(
                arguments,
                new EvictJob(
                        modules, selection(arguments), arguments.path("force").asBoolean()));
    }

    private Object started(JsonNode arguments, Job job) throws RefusedException {
        return Map.of("job", jobs.start(job, () -> deleteTemporaryList(arguments)));
    }

    /** Selects by key, so it needs neither the store nor the names. */
    private Object unpin(JsonNode arguments) throws RefusedException {
        Pins pins = modules.cache().pins();
        try {
            Predicate<String> isMeant = selection(arguments).keys(modules.tree().root());
            Set<String> keys =
                    pins.keys(modules.namespace()).stream().filter(isMeant).collect(Collectors.toSet());
            int files = pins.unpin(modules.namespace(), keys::contains);
            deleteTemporaryList(arguments);
            return Map.of("files", files);
        } catch (IOException e) {
            throw new RefusedException("cannot write to the cache disk: " + Reason.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RefusedException("the mount is being unmounted");
        }
    }

    private FileSelection selection(JsonNode arguments) throws RefusedException {
        List<String> paths = new ArrayList<>();
        arguments.path("paths").forEach(path -> paths.add(path.asText()));
        Path list = list(arguments);
        new FileSelection(mountPoint, paths, null).check();
        if (paths.isEmpty() && list == null) {
            throw new RefusedException("paths: name at least one file or folder, or . for the whole mount");
        }
        return new FileSelection(mountPoint, paths, list);
    }

    /** The client's file with one path a line. It must be outside the mount, which would wait for itself. */
    private @Nullable Path list(JsonNode arguments) throws RefusedException {
        if (!arguments.hasNonNull("list")) {
            return null;
        }
        Path list = Path.of(arguments.path("list").asText()).toAbsolutePath();
        if (MountBoundary.leadsInto(list, List.of(mountPoint))) {
            throw new RefusedException(list + " is inside the mount itself; copy it somewhere else");
        } else if (!Files.isRegularFile(list) || !Files.isReadable(list)) {
            throw new RefusedException(list + " is not a file that the mount can read");
        }
        return list;
    }

    /** Deletes a list that was made for this request and that its command has read. */
    private static void deleteTemporaryList(JsonNode arguments) {
        if (arguments.path("isListTemporary").asBoolean()) {
            Path list = Path.of(arguments.path("list").asText());
            try {
                Files.deleteIfExists(list);
            } catch (IOException e) {
                log.debug("Cannot delete the list {}", list, e);
            }
        }
    }

    private static int number(JsonNode arguments) {
        return arguments.path("job").asInt();
    }
}
