package io.penstock.csi;

import io.penstock.settings.MetricsSettings;
import io.penstock.settings.Setting;
import io.penstock.settings.Settings;
import io.penstock.settings.ShareSettings;
import io.penstock.settings.WriteSettings;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Which settings a volume may have. All others come from the configuration file of the driver. */
final class NodeOptions {
    /** They name files, ports or other nodes, or would make the driver's mounts unusable. */
    private static final Set<Setting<?>> OF_NODE = Set.of(
            Settings.CACHE_DIR,
            Settings.LOG_FILE,
            Settings.ACCESS_LOG,
            Settings.INDEX,
            Settings.CA_FILE,
            Settings.PROFILE,
            Settings.BINDING,
            Settings.ALLOW_OTHER,
            WriteSettings.STAGING,
            MetricsSettings.PROMETHEUS,
            MetricsSettings.OTLP,
            MetricsSettings.OTLP_INTERVAL,
            ShareSettings.PEERS,
            ShareSettings.LISTEN,
            ShareSettings.TLS_CA,
            ShareSettings.TLS_CERTIFICATE,
            ShareSettings.TLS_KEY,
            ShareSettings.INSECURE,
            ShareSettings.BANDWIDTH);

    /** The author of a pod may have few rights: not to a node's memory, disk or network. */
    private static final Set<Setting<?>> OF_INLINE = Set.of(
            Settings.REGION,
            Settings.PATH_STYLE,
            Settings.REQUESTER_PAYS,
            Settings.ANONYMOUS,
            Settings.CHECKSUMS,
            Settings.METADATA_TTL,
            Settings.NEGATIVE_TTL,
            Settings.ATTRIBUTES,
            Settings.READ_ONLY,
            Settings.NO_EXEC,
            Settings.UID,
            Settings.GID,
            Settings.FILE_MODE,
            Settings.DIR_MODE,
            WriteSettings.CLOSE,
            WriteSettings.FSYNC,
            WriteSettings.EXCLUSIVE,
            WriteSettings.LINKS);

    private NodeOptions() {}

    /** @param inline whether a pod describes the volume, and not the cluster's administrator */
    static boolean isAllowed(Setting<?> setting, boolean inline) {
        return inline ? OF_INLINE.contains(setting) : !OF_NODE.contains(setting);
    }

    /** For a message. */
    static String allowedInline() {
        return names(Settings.ALL.stream().filter(OF_INLINE::contains));
    }

    private static String names(Stream<Setting<?>> settings) {
        return settings.map(Setting::key).collect(Collectors.joining(", "));
    }
}
