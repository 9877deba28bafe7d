package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.core.Printable;
import io.penstock.fuse.MountTable;
import io.penstock.serve.control.ControlClient;
import io.penstock.serve.mount.MountBoundary;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Host;
import io.penstock.settings.Setting;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The mount that a command is about, and the responses of its process. */
record ServingMount(RunningMount mount) {
    static final String LABEL = "MOUNTPOINT";
    static final String DESCRIPTION = "The mount point; may be omitted if there is only one mount.";

    /**
     * Finds the process that serves a mount.
     *
     * @param mountPoint as the user writes it; null for the only mount
     */
    static ServingMount find(@Nullable String mountPoint) throws IOException, RefusedException {
        Mounts mounts = Mounts.read();
        if (mountPoint == null) {
            if (mounts.served().size() > 1) {
                throw new RefusedException("there are " + mounts.served().size()
                        + " mounts: give a mount point; penstock mounts lists them");
            }
            return new ServingMount(mounts.newest(_ -> true, "there are no Penstock mounts"));
        }
        Path given = Host.current().path(mountPoint);
        return find(mounts, given, notMounted(given, mounts.points()));
    }

    /** Why a path that is not a mount point is refused. */
    static String notMounted(Path given, List<Path> mountPoints) {
        return "nothing is mounted on " + given
                + MountBoundary.around(MountBoundary.resolve(given, mountPoints), mountPoints)
                        .map(mount -> ": it is inside the mount " + mount
                                + ", where links are not followed; give the mount point")
                        .orElse("; penstock mounts lists the mounts");
    }

    /** @param none the message if nothing is mounted there */
    static ServingMount find(Mounts mounts, Path given, String none) throws RefusedException {
        return new ServingMount(mounts.newest(MountBoundary.resolve(given, mounts.points())::equals, none));
    }

    /**
     * A file in a mount.
     *
     * @param path without symbolic links up to the mount point
     */
    record MountedFile(ServingMount mount, Path path) {}

    /** Finds the process that serves the mount in which the file is. */
    static MountedFile around(Path file) throws IOException, RefusedException {
        Mounts mounts = Mounts.read();
        Path path = MountBoundary.resolve(file, mounts.points());
        RunningMount found = mounts.newest(
                path::startsWith,
                Printable.text(file.toString()) + " is not in a Penstock mount; penstock mounts lists the mounts");
        return new MountedFile(new ServingMount(found), path);
    }

    /**
     * The mounts of this machine that this user can see.
     *
     * @param served those with a live process
     * @param dead those still mounted although their process has ended
     * @param unknown the mount points of others, whose processes are unknown
     */
    record Mounts(List<RunningMount> served, List<RunningMount> dead, List<Path> unknown) {
        static Mounts read() throws IOException {
            return of(RunningMount.list(Host.current()), MountTable.read().entries());
        }

        List<Path> points() {
            return Stream.concat(
                            Stream.concat(served.stream(), dead.stream()).map(RunningMount::mountPoint),
                            unknown.stream())
                    .toList();
        }

        static Mounts of(List<RunningMount> all, List<MountTable.Entry> table) {
            List<Path> mounted = RunningMount.mountPoints(table);
            List<RunningMount> present =
                    all.stream().filter(each -> !each.unmounted()).toList();
            Set<Path> known = present.stream().map(RunningMount::mountPoint).collect(Collectors.toSet());
            return new Mounts(
                    present.stream().filter(RunningMount::isAlive).toList(),
                    present.stream()
                            .filter(each -> !each.isAlive() && mounted.contains(each.mountPoint()))
                            .toList(),
                    mounted.stream().filter(point -> !known.contains(point)).toList());
        }

        /**
         * The innermost of the matching mounts, and the latest of these.
         *
         * @param meant whether a mount point matches
         * @param none the message if nothing is mounted there
         */
        RunningMount newest(Predicate<Path> meant, String none) throws RefusedException {
            Optional<RunningMount> found = newest(served, meant);
            if (found.isPresent()) {
                return found.get();
            }
            throw new RefusedException(newest(dead, meant)
                    .map(each -> each.mountPoint() + " is dead: the process that served it has ended; mount it"
                            + " again, or remove it with penstock umount " + each.mountPoint())
                    .or(() -> unknown.stream()
                            .filter(meant)
                            .findFirst()
                            .map(point -> point + " is a Penstock mount, but its process is unknown to this user:"
                                    + " another user mounted it, or XDG_RUNTIME_DIR was different"))
                    .orElse(none));
        }

        /**
         * Refuses a path that leads into a mount whose process is stopped: looking it up would block.
         *
         * @param path absolute; need not exist
         */
        void refuseIfStopped(Path path) throws RefusedException {
            Path resolved = MountBoundary.resolve(path, points());
            for (RunningMount each : served) {
                if (resolved.startsWith(each.mountPoint()) && each.isStopped()) {
                    throw new RefusedException(silence(each, true, ""));
                }
            }
        }

        private static Optional<RunningMount> newest(List<RunningMount> mounts, Predicate<Path> meant) {
            return mounts.stream()
                    .filter(each -> meant.test(each.mountPoint()))
                    .max(Comparator.<RunningMount>comparingInt(
                                    each -> each.mountPoint().getNameCount())
                            .thenComparing(RunningMount::since));
        }
    }

    /**
     * Sends a command of the control socket to the process.
     *
     * @param arguments an object that Jackson can write
     */
    JsonNode ask(String command, Object arguments) throws RefusedException {
        if (mount.isStopped()) {
            throw new RefusedException(silence(mount, true, ""));
        }
        try {
            return new ControlClient(mount.socket(Host.current())).ask(command, arguments);
        } catch (IOException e) {
            throw new RefusedException(silence(mount, isServed(), Reason.of(e)));
        }
    }

    /**
     * Why its process does not respond.
     *
     * @param isServed whether it is still mounted, as far as known
     */
    static String silence(RunningMount mount, boolean isServed, String reason) {
        String process = "process " + mount.pid() + ", which serves " + mount.mountPoint() + ", ";
        if (!isServed) {
            return mount.mountPoint() + " is no longer served";
        } else if (mount.isStopped()) {
            return process + "is stopped, so programs that use it hang; kill -CONT " + mount.pid() + " resumes it";
        }
        return process + "does not respond (" + reason + "): it belongs to another user, runs an earlier version, or"
                + " hangs";
    }

    /** False once it is unmounted, even while its process still uploads. */
    boolean isServed() {
        try {
            return mount.isAlive()
                    && MountTable.read().at(mount.mountPoint()).isPresent()
                    && mount.now(Host.current()).filter(now -> !now.unmounted()).isPresent();
        } catch (IOException e) {
            return mount.isAlive();
        }
    }

    /** Its current settings. */
    Configuration configuration(String bucket) throws ConfigurationException, RefusedException {
        return configuration(Host.current(), bucket, ask("config", Map.of()));
    }

    /**
     * The settings that a mount reports. This process's environment and AWS files do not count for it.
     *
     * @param told an array of objects with key and value
     * @return its values; settings with their defaults are not set
     */
    static Configuration configuration(Host host, String bucket, JsonNode told) throws ConfigurationException {
        Map<String, String> texts = new LinkedHashMap<>();
        told.forEach(
                each -> texts.put(each.path("key").asText(), each.path("value").asText()));
        Map<Setting<?>, String> values = new LinkedHashMap<>();
        for (Setting<?> setting : Settings.ALL) {
            String text = texts.getOrDefault(setting.key(), "(");
            if (!text.startsWith("(")) { // else it has no value, and this describes the default
                values.put(setting, text);
            }
        }
        return Configuration.defaults(host, bucket)
                .with(SettingSource.ofOptions(values, Map.of()))
                .withoutDefaults();
    }
}
