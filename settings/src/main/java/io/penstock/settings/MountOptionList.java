package io.penstock.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The value of {@code -o}, on the command line and in fstab: {@code cache_size=64GiB,allow_other,_netdev}. A key may
 * contain dots, dashes or underscores; a flag needs no value. Options that only mount(8), fstab and systemd use are
 * ignored.
 *
 * @param settings the settings in it
 * @param configurationFile the value of {@code config=}; null if it is missing
 */
public record MountOptionList(
        SettingSource settings, @Nullable String configurationFile) {
    /**
     * mount(8)'s options that do not depend on the file system, fstab(5)'s options, and those that libmount passes on
     * to helpers. FUSE mounts are always nosuid and nodev. mount(8) puts {@code rw} in front by default.
     * {@code noexec}, which {@code user} implies, is a setting.
     */
    private static final Set<String> PASSED_OVER = Set.of(
            "defaults",
            "auto",
            "noauto",
            "user",
            "nouser",
            "users",
            "owner",
            "group",
            "nofail",
            "_netdev",
            "rw",
            "exec",
            "suid",
            "nosuid",
            "dev",
            "nodev",
            "atime",
            "noatime",
            "diratime",
            "nodiratime",
            "relatime",
            "norelatime",
            "strictatime",
            "nostrictatime",
            "lazytime",
            "nolazytime",
            "sync",
            "async",
            "dirsync",
            "iversion",
            "noiversion",
            "mand",
            "nomand",
            "silent",
            "loud");

    /** mount(8)'s flags for settings: the last flag for a setting wins. {@code rw} and {@code exec} leave it unset. */
    private static final Map<String, Setting<Boolean>> FLAGS = Map.of(
            "ro", Settings.READ_ONLY, "rw", Settings.READ_ONLY, "noexec", Settings.NO_EXEC, "exec", Settings.NO_EXEC);

    /**
     * Parses the lists.
     *
     * @param lists each {@code key=value,key,…}
     * @param where the place to name in error messages: {@code -o}, or the line of fstab
     */
    public static MountOptionList parse(List<String> lists, String where) {
        SettingSource.Builder source = new SettingSource.Builder();
        String configurationFile = null;
        for (String option : lists.stream()
                .flatMap(list -> List.of(list.split(",")).stream())
                .toList()) {
            String key = option.split("=", 2)[0].strip();
            String value = option.contains("=")
                    ? option.substring(option.indexOf('=') + 1).strip()
                    : "true";
            Setting<Boolean> flag = FLAGS.get(option.strip());
            if (flag != null) {
                source.unset(flag);
            }
            if (key.isEmpty() || PASSED_OVER.contains(key) || key.startsWith("x-") || key.equals("comment")) {
                continue;
            }
            if (key.equals("config")) {
                configurationFile = value;
            } else if (key.equals("ro")) {
                source.read(Settings.READ_ONLY, "true", new Origin.MountOption(option, where));
            } else if (key.equals("remount")) {
                return remount(new Origin.MountOption(option, where));
            } else {
                read(key, value, new Origin.MountOption(option, where), source);
            }
        }
        return new MountOptionList(source.build(), configurationFile);
    }

    /** For a remount, mount(8) adds the mount's kernel options, which the user did not write: they are not reported. */
    private static MountOptionList remount(Origin.MountOption origin) {
        SettingSource.Builder source = new SettingSource.Builder();
        source.problem(
                origin,
                "remount",
                "not supported; change live settings with penstock set or penstock reload, and unmount and mount again"
                        + " for all others");
        return new MountOptionList(source.build(), null);
    }

    private static void read(String key, String value, Origin.MountOption origin, SettingSource.Builder to) {
        Optional<Setting<?>> setting = Settings.byMountOption(key);
        if (setting.isPresent()) {
            boolean valueMissing =
                    !origin.text().contains("=") && !setting.get().type().isFlag();
            to.read(setting.get(), valueMissing ? "" : value, origin);
            return;
        }
        List<String> known = new ArrayList<>(PASSED_OVER);
        for (Setting<?> each : Settings.ALL) {
            each.names().forEach(name -> known.addAll(List.of(name.replace('-', '_'), name)));
            known.add(each.key());
        }
        // The suggestion is in the user's spelling.
        to.problem(origin, key, "no such option" + UnknownName.hint(key.toLowerCase(Locale.ROOT), "", known));
    }
}
