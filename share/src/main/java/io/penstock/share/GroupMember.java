package io.penstock.share;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * A member of the group.
 *
 * @param id stays the same across restarts
 * @param address host and port of its bytes, an IPv6 host in brackets
 * @param hash hash of the id
 */
record GroupMember(String id, String address, long hash) {
    GroupMember(String id, String address) {
        this(id, address, OwnedSlabs.hash(id));
    }

    static String address(InetSocketAddress listen) {
        String host = listen.getAddress().getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + listen.getPort();
    }

    /** @throws IllegalArgumentException if the address, which came from another node, is malformed */
    InetSocketAddress socketAddress() {
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, Math.max(0, colon)).replaceAll("^\\[|]$", "");
        return new InetSocketAddress(InetAddress.ofLiteral(host), Integer.parseInt(address.substring(colon + 1)));
    }
}
