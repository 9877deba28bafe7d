package io.penstock.csi;

import static java.util.Objects.requireNonNull;

import csi.v1.Csi.NodePublishVolumeRequest;
import csi.v1.Csi.VolumeCapability;
import csi.v1.Csi.VolumeCapability.AccessMode.Mode;
import io.penstock.serve.mount.Target;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.ConfigurationFile;
import io.penstock.settings.Host;
import io.penstock.settings.MountOptionList;
import io.penstock.settings.Setting;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.process.Secrets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A volume that a pod is to get.
 *
 * @param bucket with a prefix, as in mount tables
 * @param options of the mount, as for {@code -o}: those of the volume, and the driver's for what the volume leaves open
 * @param path where the pod gets it
 * @param readOnly whether this pod may not write, although others may
 * @param isMountReadOnly whether nobody may
 * @param noExec whether no program in it can be run
 */
record Volume(
        String bucket,
        List<String> options,
        Identity identity,
        Path path,
        boolean readOnly,
        boolean isMountReadOnly,
        boolean noExec) {
    static final String BUCKET = "bucket";
    private static final String PREFIX = "prefix";
    private static final String ENDPOINT = "endpoint";
    private static final String REGION = "region";
    private static final String OPTIONS = "mountOptions";

    private static final Set<String> ATTRIBUTES =
            Set.of(BUCKET, PREFIX, ENDPOINT, REGION, OPTIONS, Identities.AUTHENTICATION, Identities.ROLE);

    /** How Kubernetes names what it adds. */
    private static final String OF_KUBERNETES = "k8s.io/";

    private static final Set<Mode> READERS = Set.of(Mode.SINGLE_NODE_READER_ONLY, Mode.MULTI_NODE_READER_ONLY);

    /**
     * Checks everything that can be checked without the store.
     *
     * @param inlineOfDriver whether pods that describe a volume themselves may use the driver's credentials
     */
    static Volume of(NodePublishVolumeRequest request, boolean inlineOfDriver) throws CallRefusal {
        Map<String, String> attributes = request.getVolumeContextMap();
        boolean inline = "true".equals(attributes.get("csi.storage.k8s.io/ephemeral"));
        require(request.getVolumeId(), "volume_id");
        Path path = Targets.path(request.getTargetPath(), "target_path");
        if (!request.hasVolumeCapability()) {
            throw CallRefusal.invalid("volume_capability is missing");
        }
        VolumeCapability capability = request.getVolumeCapability();
        Mode mode = checkCapability(capability);
        for (String name : attributes.keySet()) {
            if (!ATTRIBUTES.contains(name) && !name.contains(OF_KUBERNETES) && !name.contains("kubernetes.io/")) {
                throw CallRefusal.invalid("unknown volume attribute '" + name + "'; the attributes are "
                        + String.join(", ", ATTRIBUTES.stream().sorted().toList()));
            }
        }
        Identity identity = Identities.of(attributes, request.getSecretsMap(), inline, inlineOfDriver);
        Target target = target(request.getVolumeId(), attributes, inline);
        List<String> lists = new ArrayList<>(List.of(attributes.getOrDefault(OPTIONS, "")));
        lists.addAll(capability.getMount().getMountFlagsList());
        if (READERS.contains(mode)) {
            lists.add("ro");
        }
        SettingSource own = check(lists, inline);
        add(lists, own, attributes, identity, inline);
        String group = capability.getMount().getVolumeMountGroup();
        addOwner(lists, own, group.isEmpty() ? "0" : group);
        Configuration configuration = configuration(target, lists);
        return new Volume(
                target.source(),
                lists.stream()
                        .flatMap(list -> List.of(list.split(",")).stream())
                        .map(String::strip)
                        .filter(option -> !option.isEmpty())
                        .toList(),
                identity,
                path,
                request.getReadonly(),
                configuration.get(Settings.READ_ONLY),
                configuration.get(Settings.NO_EXEC));
    }

    /** Distinguishes mounts: volumes with equal keys share one. */
    String key() {
        return Digest.of(bucket, String.join(",", options), identity.name()).substring(0, 32);
    }

    private static String require(String value, String field) throws CallRefusal {
        if (value.isEmpty()) {
            throw CallRefusal.invalid(field + " is missing");
        }
        return value;
    }

    private static Mode checkCapability(VolumeCapability capability) throws CallRefusal {
        if (capability.hasBlock()) {
            throw CallRefusal.invalid("a bucket is no block device; set volumeMode: Filesystem");
        }
        if (!capability.hasMount()) {
            throw CallRefusal.invalid("volume_capability has no access type; a bucket needs mount");
        }
        String type = capability.getMount().getFsType();
        if (!type.isEmpty() && !type.equals("fuse.penstock")) {
            throw CallRefusal.invalid("a bucket has no file system of type '" + type + "'; leave fsType out");
        }
        Mode mode = capability.getAccessMode().getMode();
        if (mode == Mode.UNKNOWN || mode == Mode.UNRECOGNIZED) {
            throw CallRefusal.invalid("volume_capability has no access mode, or an unknown one");
        }
        return mode;
    }

    private static Target target(String id, Map<String, String> attributes, boolean inline) throws CallRefusal {
        String bucket = attributes.getOrDefault(BUCKET, inline ? "" : id);
        if (bucket.isEmpty()) {
            throw CallRefusal.invalid("the volume attribute bucket is missing");
        }
        String prefix = attributes.getOrDefault(PREFIX, "");
        try {
            return Target.parse(prefix.isEmpty() ? bucket : bucket + "/" + prefix);
        } catch (ConfigurationException e) {
            throw CallRefusal.invalid(String.join("; ", e.problems()));
        }
    }

    /** The settings in these lists, each of which the volume may have. */
    private static SettingSource check(List<String> lists, boolean inline) throws CallRefusal {
        MountOptionList list = MountOptionList.parse(lists, OPTIONS);
        if (!list.settings().problems().isEmpty()) {
            throw CallRefusal.invalid(
                    Secrets.hiddenInInput(String.join("; ", list.settings().problems())));
        }
        if (list.configurationFile() != null) {
            throw CallRefusal.invalid("mountOptions: a volume cannot name a configuration file of the node");
        }
        for (Setting<?> setting : list.settings().settings()) {
            if (!NodeOptions.isAllowed(setting, inline)) {
                throw CallRefusal.invalid("mountOptions: " + setting + ": "
                        + (inline
                                ? "a volume that a pod describes can have only " + NodeOptions.allowedInline()
                                : "only the driver's configuration file can set this"));
            }
        }
        return list.settings();
    }

    private static void add(
            List<String> lists, SettingSource own, Map<String, String> attributes, Identity identity, boolean inline)
            throws CallRefusal {
        for (String name : List.of(ENDPOINT, REGION)) {
            String value = attributes.getOrDefault(name, "");
            Setting<?> setting = name.equals(ENDPOINT) ? Settings.ENDPOINT : Settings.REGION;
            if (value.isEmpty()) {
                continue;
            } else if (value.contains(",")) {
                throw CallRefusal.invalid("the volume attribute " + name + " has a comma");
            } else if (own.settings().contains(setting)) {
                throw CallRefusal.invalid("both the volume attribute " + name + " and mountOptions set " + setting);
            } else if (inline && name.equals(ENDPOINT) && identity instanceof Identity.OfDriver) {
                throw CallRefusal.invalid(
                        "a volume that a pod describes cannot send the driver's credentials to an endpoint"
                                + " of its own");
            }
            lists.add(setting + "=" + value);
        }
    }

    /** The server's user owns nothing: files without a stored owner are root's, and the group's. */
    private static void addOwner(List<String> lists, SettingSource own, String group) throws CallRefusal {
        if (!group.matches("\\d{1,10}")) {
            throw CallRefusal.invalid("volume_mount_group is '" + group + "', but must be a number");
        }
        Map<Setting<?>, String> owner = group.equals("0")
                ? Map.of(Settings.UID, "0", Settings.GID, "0")
                : Map.of(
                        Settings.UID, "0",
                        Settings.GID, group,
                        Settings.FILE_MODE, "0664",
                        Settings.DIR_MODE, "0775");
        List.of(Settings.UID, Settings.GID, Settings.FILE_MODE, Settings.DIR_MODE).stream()
                .filter(setting -> owner.containsKey(setting) && !own.settings().contains(setting))
                .forEach(setting -> lists.add(setting + "=" + requireNonNull(owner.get(setting))));
    }

    /** As the mount's process will read it. */
    private static Configuration configuration(Target target, List<String> lists) throws CallRefusal {
        try {
            return Configuration.of(
                    Host.current(),
                    target.bucket(),
                    SettingSource.EMPTY,
                    MountOptionList.parse(lists, OPTIONS).settings(),
                    ConfigurationFile.find(null, Host.current()));
        } catch (ConfigurationException e) {
            throw CallRefusal.invalid(Secrets.hiddenInInput(String.join("; ", e.problems())));
        }
    }
}
