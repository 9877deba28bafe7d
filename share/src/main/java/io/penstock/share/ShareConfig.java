package io.penstock.share;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What makes a node a member of a cache group.
 *
 * @param discovery where the other nodes are found
 * @param listen where other nodes have bytes from this one; its port + 1 is that of the group. The address is what other
 *     nodes connect to, so it is none of all addresses of the machine (0.0.0.0)
 * @param identityFile keeps the identifier of this node, so that it owns after a restart what it owned before; made if it
 *     does not exist
 * @param tls null only where all that can connect are trusted
 * @param bandwidth bytes a second that other nodes get from this one at most, and that this one gets from them; 0 for no
 *     limit
 * @param namespace distinguishes the bucket: endpoint and bucket, the same on all nodes
 */
public record ShareConfig(
        Discovery discovery,
        InetSocketAddress listen,
        Path identityFile,
        @Nullable TlsFiles tls,
        long bandwidth,
        String namespace) {
    /** The port of the bytes is followed by that of the group. */
    private static final int HIGHEST_PORT = 65534;

    public ShareConfig {
        if (listen.getPort() < 1 || listen.getPort() > HIGHEST_PORT) {
            throw new IllegalArgumentException("share.listen needs a port of 1 to " + HIGHEST_PORT + ": " + listen);
        }
        if (bandwidth < 0) {
            throw new IllegalArgumentException("no such bandwidth: " + bandwidth);
        }
    }

    /** Where the members of the group speak to each other. */
    InetSocketAddress groupAddress() {
        return new InetSocketAddress(listen.getAddress(), listen.getPort() + 1);
    }
}
