package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cli.config.Configuration;
import io.penstock.cli.config.ConfigurationException;
import io.penstock.cli.config.ConfigurationFile;
import io.penstock.cli.config.Host;
import io.penstock.cli.config.Setting;
import io.penstock.cli.config.SettingSource;
import io.penstock.cli.config.Settings;
import io.penstock.cli.control.ControlClient;
import io.penstock.cli.process.Reason;
import io.penstock.cli.process.RefusedException;
import io.penstock.cli.state.RunningMount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The mount that a command is about, and what its process answers. */
record ServingMount(RunningMount mount) {
    static final String LABEL = "MOUNTPOINT";
    static final String DESCRIPTION =
            "The folder that was given to penstock mount. It may be left out if there is one mount.";

    /**
     * Finds the process that serves it.
     *
     * @param mountPoint as the user writes it; null for the only mount
     */
    static ServingMount find(@Nullable String mountPoint) throws IOException, RefusedException {
        List<RunningMount> running = running();
        if (mountPoint == null) {
            if (running.size() != 1) {
                throw new RefusedException(
                        running.isEmpty()
                                ? "Penstock has nothing mounted"
                                : "which mount? " + running.size() + " are there, and penstock mounts lists them");
            }
            return new ServingMount(running.getFirst());
        }
        Path given = Host.current().path(mountPoint);
        return RunningMount.newest(running, given, false)
                .or(() -> RunningMount.newest(running, UmountCommand.realPath(given), false))
                .map(ServingMount::new)
                .orElseThrow(() ->
                        new RefusedException("nothing is mounted on " + given + "; penstock mounts lists the mounts"));
    }

    /** Finds the process that serves the mount in which the file is. */
    static ServingMount around(Path file) throws IOException, RefusedException {
        return running().stream()
                .filter(each -> file.startsWith(each.mountPoint()))
                .max(Comparator.<RunningMount>comparingInt(
                                each -> each.mountPoint().getNameCount())
                        .thenComparing(RunningMount::since))
                .map(ServingMount::new)
                .orElseThrow(() ->
                        new RefusedException(file + " is in no mount of Penstock; penstock mounts lists the mounts"));
    }

    private static List<RunningMount> running() throws IOException {
        return RunningMount.list(Host.current()).stream()
                .filter(each -> each.isAlive() && !each.unmounted())
                .toList();
    }

    /**
     * Has the process carry out a command of the control socket.
     *
     * @param arguments what Jackson can write as an object
     */
    JsonNode ask(String command, Object arguments) throws RefusedException {
        try {
            return new ControlClient(mount.socket(Host.current())).ask(command, arguments);
        } catch (IOException e) {
            throw new RefusedException(
                    mount.isAlive()
                            ? "process " + mount.pid() + ", which serves " + mount.mountPoint() + ", does not answer ("
                                    + Reason.of(e) + "): it belongs to another user, or to an earlier version"
                            : mount.mountPoint() + " is not served any more");
        }
    }

    /** The settings that it has now. */
    Configuration configuration(String bucket) throws ConfigurationException, RefusedException {
        Configuration defaults = Configuration.of(
                Host.current(), bucket, SettingSource.EMPTY, SettingSource.EMPTY, ConfigurationFile.NONE);
        Map<String, String> texts = new LinkedHashMap<>();
        ask("config", Map.of())
                .forEach(each ->
                        texts.put(each.path("key").asText(), each.path("value").asText()));
        Map<Setting<?>, String> changed = new LinkedHashMap<>();
        for (Setting<?> setting : Settings.ALL) {
            String text = texts.getOrDefault(setting.key(), "(");
            boolean isSet = !text.startsWith("("); // otherwise it says what holds without a value
            if (isSet && !text.equals(defaults.show(setting))) {
                changed.put(setting, text);
            }
        }
        return defaults.with(SettingSource.ofOptions(changed, Map.of()));
    }
}
