package io.penstock.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Unused ports of this machine. */
final class FreePorts {
    private static final int TRIES = 100;

    private FreePorts() {}

    /** A free port at 127.0.0.1. */
    static int one() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /**
     * The first of two consecutive free ports.
     *
     * @param address a numeric address of this machine
     */
    static int pair(String address) throws IOException {
        for (int tries = 0; tries < TRIES; tries++) {
            try (ServerSocket first = new ServerSocket(0, 1, InetAddress.ofLiteral(address))) {
                if (isFree(address, first.getLocalPort() + 1)) {
                    return first.getLocalPort();
                }
            }
        }
        throw new IOException("no two free ports in a row at " + address);
    }

    private static boolean isFree(String address, int port) {
        try (ServerSocket _ = new ServerSocket(port, 1, InetAddress.ofLiteral(address))) {
            return true;
        } catch (IOException | IllegalArgumentException e) {
            return false; // it is in use, or the first is the last port
        }
    }
}
