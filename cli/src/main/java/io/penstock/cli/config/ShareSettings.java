package io.penstock.cli.config;

import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The settings of a cache that nodes share, among {@link Settings}. */
public final class ShareSettings {
    /** Registered for nothing else by IANA; the group itself has the one above. */
    static final int PORT = 7420;

    /** The port above it is needed, too. */
    static final int HIGHEST_PORT = 65_534;

    public static final Setting<Peers> PEERS = Setting.of(
            "share.peers",
            ValueType.peers(),
            "Where the other nodes are found that share their caches: bucket, in .penstock/share in the bucket itself,"
                    + " which needs the right to write there; dns:NAME, all addresses of the name; or a list of nodes."
                    + " Without it this mount shares nothing.");

    public static final Setting<InetSocketAddress> LISTEN = Setting.of(
                    "share.listen",
                    ValueType.address(),
                    "The address and port at which other nodes reach this one; the port above it is used, too. Each"
                            + " mount of a machine that shares needs its own.")
            .withDefault(
                    "the address of the route to other networks, port " + PORT,
                    context -> context.find(ShareSettings.PEERS).isPresent() ? routed() : null);

    public static final Setting<Path> TLS_CA = Setting.of(
            "share.tls-ca",
            ValueType.path(),
            "Certificates (PEM) of the authority that signs the certificates of the nodes: a node with such a"
                    + " certificate is trusted as a member.");

    public static final Setting<Path> TLS_CERTIFICATE = Setting.of(
            "share.tls-certificate",
            ValueType.path(),
            "This node's certificate (PEM), followed by those between it and the authority.");

    public static final Setting<Path> TLS_KEY = Setting.of(
            "share.tls-key", ValueType.path(), "The private key of share.tls-certificate (PEM, PKCS #8, no password).");

    public static final Setting<Boolean> INSECURE = Setting.of(
                    "share.insecure",
                    ValueType.flag(),
                    "Share without certificates and in the clear: every machine that reaches share.listen can join the"
                            + " group, and can read and forge what nodes send.")
            .withDefault("false");

    public static final Setting<Long> BANDWIDTH = Setting.of(
                    "share.bandwidth",
                    ValueType.size(0, Long.MAX_VALUE),
                    "The most that this node sends to other nodes a second, and the most that it takes from them; 0"
                            + " for no limit.")
            .withDefault("0")
            .live();

    static final Settings.Group GROUP = new Settings.Group(
            "Sharing", List.of(PEERS, LISTEN, TLS_CA, TLS_CERTIFICATE, TLS_KEY, INSECURE, BANDWIDTH));

    private ShareSettings() {}

    /** Null if this machine has no route. A datagram socket that is connected sends nothing. */
    private static @Nullable InetSocketAddress routed() {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(InetAddress.ofLiteral("192.0.2.1"), PORT); // RFC 5737: an address for documentation
            InetAddress local = socket.getLocalAddress();
            return local.isAnyLocalAddress() ? null : InetSocketAddress.createUnresolved(local.getHostAddress(), PORT);
        } catch (SocketException | UncheckedIOException e) {
            return null;
        }
    }

    /** What of these settings excludes each other. */
    static void addContradictions(Configuration configuration, List<String> problems) {
        if (configuration.find(PEERS).isEmpty()) {
            return;
        }
        List<Setting<Path>> files = List.of(TLS_CA, TLS_CERTIFICATE, TLS_KEY);
        List<String> set = keys(files, configuration, true);
        List<String> missing = keys(files, configuration, false);
        if (configuration.get(INSECURE) && !set.isEmpty()) {
            problems.add(configuration.origin(INSECURE) + ": share.insecure: found 'true' together with "
                    + String.join(", ", set) + ", allowed is only one of them");
        } else if (!configuration.get(INSECURE) && !missing.isEmpty()) {
            problems.add(
                    configuration.origin(PEERS) + ": share.peers: found '" + configuration.show(PEERS) + "' without "
                            + String.join(", ", missing)
                            + ", which nodes need to trust each other (docs/SHARING.md shows how to make them); in a"
                            + " network where every machine may read the bucket, share.insecure=true does without");
        }
        InetSocketAddress listen = configuration.find(LISTEN).orElse(null);
        if (listen == null) {
            problems.add(configuration.origin(PEERS)
                    + ": share.listen: found nothing, and this machine has no route to other"
                    + " networks: set the address and port at which other nodes reach it");
        } else if (listen.getPort() > HIGHEST_PORT || isWildcard(listen.getHostString())) {
            problems.add(configuration.origin(LISTEN) + ": share.listen: found '" + configuration.show(LISTEN)
                    + "', allowed is one address of this machine that other nodes reach, with a port up to "
                    + HIGHEST_PORT);
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
