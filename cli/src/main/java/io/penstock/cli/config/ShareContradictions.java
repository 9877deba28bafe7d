package io.penstock.cli.config;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Which values of {@link ShareSettings} exclude each other. */
final class ShareContradictions {
    private ShareContradictions() {}

    /** Settings of these that exclude each other. */
    static void addTo(Configuration configuration, List<String> problems) {
        if (configuration.find(ShareSettings.PEERS).isEmpty()) {
            return;
        }
        List<Setting<Path>> files = List.of(ShareSettings.TLS_CA, ShareSettings.TLS_CERTIFICATE, ShareSettings.TLS_KEY);
        List<String> set = keys(files, configuration, true);
        List<String> missing = keys(files, configuration, false);
        if (configuration.get(ShareSettings.INSECURE) && !set.isEmpty()) {
            problems.add(configuration.origin(ShareSettings.INSECURE) + ": share.insecure: found 'true' together with "
                    + String.join(", ", set) + ", allowed is only one of them");
        } else if (!configuration.get(ShareSettings.INSECURE) && !missing.isEmpty()) {
            problems.add(configuration.origin(ShareSettings.PEERS) + ": share.peers: found '"
                    + configuration.show(ShareSettings.PEERS) + "' without "
                    + String.join(", ", missing)
                    + ", which nodes need to trust each other (docs/SHARING.md shows how to make them); in a"
                    + " network where every machine may read the bucket, share.insecure=true does without");
        }
        InetSocketAddress listen = configuration.find(ShareSettings.LISTEN).orElse(null);
        if (listen == null) {
            problems.add(configuration.origin(ShareSettings.PEERS)
                    + ": share.listen: found nothing, and this machine has no route to other"
                    + " networks: set the address and port at which other nodes reach it");
        } else if (listen.getPort() > Peers.HIGHEST_PORT || isWildcard(listen.getHostString())) {
            problems.add(configuration.origin(ShareSettings.LISTEN) + ": share.listen: found '"
                    + configuration.show(ShareSettings.LISTEN)
                    + "', allowed is one address of this machine that other nodes reach, with a port up to "
                    + Peers.HIGHEST_PORT);
        }
    }

    private static boolean isWildcard(String host) {
        try {
            return InetAddress.ofLiteral(host).isAnyLocalAddress();
        } catch (IllegalArgumentException e) {
            return false; // a name
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
