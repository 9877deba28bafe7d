package io.penstock.share;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What makes a node a member of a cache group.
 *
 * @param discovery how to find the other nodes
 * @param listen where other nodes get bytes from this one; the group uses its port + 1. Other nodes connect to this
 *     address, so it must not be the wildcard (0.0.0.0)
 * @param identityFile stores the identifier of this node, so that it owns after a restart what it owned before; created
 *     if absent
 * @param tls null only where all that can connect are trusted
 * @param bandwidth the most bytes per second that this node sends to other nodes, and that it receives from them; 0 for
 *     no limit
 * @param namespace distinguishes the bucket: endpoint and bucket, the same on all nodes
 */
public record ShareConfig(
        Discovery discovery,
        InetSocketAddress listen,
        Path identityFile,
        @Nullable TlsFiles tls,
        long bandwidth,
        String namespace) {
    /** The group's port follows that of the bytes. */
    private static final int HIGHEST_PORT = 65534;

    public ShareConfig {
        if (listen.getPort() < 1 || listen.getPort() > HIGHEST_PORT) {
            throw new IllegalArgumentException("share.listen needs a port of 1 to " + HIGHEST_PORT + ": " + listen);
        }
        if (bandwidth < 0) {
            throw new IllegalArgumentException("invalid bandwidth: " + bandwidth);
        }
    }

    /** Where the members of the group communicate. */
    InetSocketAddress groupAddress() {
        return new InetSocketAddress(listen.getAddress(), listen.getPort() + 1);
    }
}
