package io.penstock.settings;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Finds contradicting values of {@link ShareSettings}. */
final class ShareContradictions {
    private ShareContradictions() {}

    /** Adds a problem for each contradiction. */
    static void addTo(Configuration configuration, List<String> problems) {
        if (configuration.find(ShareSettings.PEERS).isEmpty()) {
            return;
        }
        List<Setting<Path>> files = List.of(ShareSettings.TLS_CA, ShareSettings.TLS_CERTIFICATE, ShareSettings.TLS_KEY);
        List<String> set = keys(files, configuration, true);
        List<String> missing = keys(files, configuration, false);
        if (configuration.get(ShareSettings.INSECURE) && !set.isEmpty()) {
            problems.add(configuration.origin(ShareSettings.INSECURE) + ": share.insecure: cannot be combined with "
                    + String.join(", ", set) + "; set one or the other");
        } else if (!configuration.get(ShareSettings.INSECURE) && !missing.isEmpty()) {
            problems.add(configuration.origin(ShareSettings.PEERS) + ": share.peers: '"
                    + configuration.show(ShareSettings.PEERS) + "' needs "
                    + String.join(", ", missing)
                    + ", by which nodes trust each other (docs/SHARING.md shows how to create them); in a"
                    + " network where every machine may read the bucket, set share.insecure=true instead");
        }
        if (configuration.find(ShareSettings.LISTEN).isEmpty()) {
            problems.add(configuration.origin(ShareSettings.PEERS)
                    + ": share.listen: no default, because this machine has no route to other"
                    + " networks; set the address and port at which other nodes reach it");
        }
    }

    private static List<String> keys(List<Setting<Path>> settings, Configuration configuration, boolean present) {
        List<String> keys = new ArrayList<>();
        for (Setting<Path> setting : settings) {
            if (configuration.find(setting).isPresent() == present) {
                keys.add(setting.key());
            }
        }
        return keys;
    }
}
