package io.penstock.settings;

import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The {@link Settings} for a cache that nodes share. */
public final class ShareSettings {
    public static final Setting<Peers> PEERS = Setting.of(
            "share.peers",
            ValueType.peers(),
            "How this node finds the nodes that share their caches: bucket, through .penstock/share in the bucket,"
                    + " which requires write access there; dns:NAME, all addresses of the name; or a list of nodes. If"
                    + " unset, this mount shares nothing.");

    public static final Setting<InetSocketAddress> LISTEN = Setting.of(
                    "share.listen",
                    ValueType.ownNode(),
                    "The address and port at which other nodes reach this one; the next port is used too. Each mount"
                            + " on a machine needs its own.")
            .withDefault(
                    "the address of the route to other networks, port " + Peers.PORT,
                    context -> context.find(ShareSettings.PEERS).isPresent() ? routed() : null);

    public static final Setting<Path> TLS_CA = Setting.of(
            "share.tls-ca",
            ValueType.path(),
            "The certificates (PEM) of the authority that signs the nodes' certificates: a node with a certificate"
                    + " from it is trusted as a member.");

    public static final Setting<Path> TLS_CERTIFICATE = Setting.of(
            "share.tls-certificate",
            ValueType.path(),
            "This node's certificate (PEM), followed by any intermediate certificates.");

    public static final Setting<Path> TLS_KEY = Setting.of(
            "share.tls-key", ValueType.path(), "The private key of share.tls-certificate (PEM, PKCS #8, no password).");

    public static final Setting<Boolean> INSECURE = Setting.of(
                    "share.insecure",
                    ValueType.flag(),
                    "Share without certificates and in the clear: every machine that reaches share.listen can join the"
                            + " group, and can read and forge the nodes' messages.")
            .withDefault("false");

    public static final Setting<Long> BANDWIDTH = Setting.of(
                    "share.bandwidth",
                    ValueType.size(0, Long.MAX_VALUE),
                    "The maximum bytes per second that this node sends to other nodes, and that it receives from them;"
                            + " 0 for no limit.")
            .withDefault("0")
            .live();

    public static final Settings.Group GROUP = new Settings.Group(
            "Sharing", List.of(PEERS, LISTEN, TLS_CA, TLS_CERTIFICATE, TLS_KEY, INSECURE, BANDWIDTH));

    private ShareSettings() {}

    /** Null if this machine has no route. Connecting a datagram socket sends nothing. */
    private static @Nullable InetSocketAddress routed() {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(InetAddress.ofLiteral("192.0.2.1"), Peers.PORT); // RFC 5737: an address for documentation
            InetAddress local = socket.getLocalAddress();
            return local.isAnyLocalAddress()
                    ? null
                    : InetSocketAddress.createUnresolved(local.getHostAddress(), Peers.PORT);
        } catch (SocketException | UncheckedIOException e) {
            return null;
        }
    }
}
