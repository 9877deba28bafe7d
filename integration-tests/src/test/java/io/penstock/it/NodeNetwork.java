package io.penstock.it;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Machines of a network on this one. Each node has a network namespace with a link to the store and another to the
 * other nodes. The switches that join them are in another namespace, so the machine itself gets only one link, with an
 * address reserved for such tests (RFC 2544). All names contain the number of this process.
 */
final class NodeNetwork implements AutoCloseable {
    /** The port for bytes between nodes. */
    static final int PORT = 7420;

    private static final Path ROOT = Path.of("/");
    private static final long PID = ProcessHandle.current().pid();
    private static final String NAME = "pst" + PID;

    /** The machine's address is .1, that of a node .1 and its number. */
    private static final String STORE = "198.18.%d.".formatted(PID % 256);

    static final String PEERS = "198.19.255.1";

    /** Like {@link #PEERS}, for the machine with the switches. */
    static final String DETOUR = "198.19.255.2";

    /** The address at which this machine reaches that one. */
    static final String SWITCHES = STORE + 2;

    private final int nodes;
    private final WireTap store;

    /** How a link is cut. */
    enum Cut {
        /** The link is down: senders get an error after a few seconds. */
        LINK_DOWN,
        /** The switch loses everything, without an error. */
        SILENT
    }

    /** @param server is reached by the nodes at an address of this network */
    NodeNetwork(S3Server server, int nodes) throws IOException {
        this.nodes = nodes;
        try {
            build();
            store = new WireTap(server, InetAddress.ofLiteral(STORE + 1));
        } catch (Throwable e) {
            remove();
            throw e;
        }
    }

    /** The reason why there cannot be such a network here; null if there can. */
    static @Nullable String obstacle() {
        Program.Result tried =
                run("type -P ip tc nsenter >/dev/null || { echo 'iproute2 and util-linux are needed'; exit 1; };"
                        + " ip netns add $1-try && ip netns del $1-try");
        return tried.exit() == 0 ? null : tried.out().strip();
    }

    private void build() {
        run("""
            set -e
            ip netns add $1
            for net in store peers; do
                ip -n $1 link add $net type bridge
                ip -n $1 link set $net up
            done
            ip link add $1 type veth peer name machine netns $1
            ip addr add ${2}1/24 dev $1
            ip link set $1 up
            ip -n $1 link set machine master store up
            for node in $(seq $4); do
                ip netns add $1-$node
                ip -n $1-$node link set lo up
                for net in store peers; do
                    ip -n $1-$node link add $net type veth peer name $net$node netns $1
                    ip -n $1 link set $net$node master $net up
                    ip -n $1-$node link set $net up
                done
                ip -n $1-$node addr add ${2}1$node/24 dev store
                ip -n $1-$node addr add $3$node/24 dev peers
            done
            """, STORE, PEERS, nodes).orThrow();
    }

    /** @param arguments $2 and so on; $1 is the name of the switches, and the beginning of the nodes' names */
    private static Program.Result run(String script, Object... arguments) {
        Object[] all = new Object[arguments.length + 1];
        all[0] = NAME;
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return Program.shell(ROOT, "PATH=$PATH:/usr/sbin:/sbin\n" + script, all);
    }

    /** The store as seen by the nodes. */
    S3Server server() {
        return store.tapped();
    }

    /** The nodes' requests to the store. */
    WireTap store() {
        return store;
    }

    /** Starts a program on a node. */
    MountedBucket.Launch on(int node, Map<String, String> environment) {
        return new MountedBucket.Launch(List.of("nsenter", "--net=/run/netns/" + NAME + "-" + node), environment);
    }

    /** The address at which the other nodes reach it. */
    static String address(int node) {
        return PEERS + node + ":" + PORT;
    }

    /** The address at which this machine reaches it. */
    static String addressOfTheStoresNetwork(int node, int port) {
        return STORE + "1" + node + ":" + port;
    }

    /** Separates a node from the others; it can still reach the store. */
    void cut(int node, Cut how) {
        run("ip -n $1 link set peers$2 " + (how == Cut.SILENT ? "nomaster" : "down"), node)
                .orThrow();
    }

    void heal(int node) {
        run("ip -n $1 link set peers$2 master peers up", node).orThrow();
    }

    /**
     * Makes a node send slowly to the others, 1 Mbit/s, and late and with losses where the kernel supports that.
     *
     * @return whether it does
     */
    boolean slow(int node) {
        boolean netem = run("tc -n $1-$2 qdisc replace dev peers root netem delay 300ms 100ms loss 2% rate 1mbit", node)
                        .exit()
                == 0;
        if (!netem) {
            run("tc -n $1-$2 qdisc replace dev peers root tbf rate 1mbit burst 32kb latency 400ms", node)
                    .orThrow();
        }
        return netem;
    }

    void hurry(int node) {
        run("tc -n $1-$2 qdisc del dev peers root", node).orThrow();
    }

    /**
     * Changes a byte in every fifth large packet that a node sends to others; no checksum of the network shows it.
     *
     * @return false if there is no program for it
     */
    boolean damage(int node) {
        return run("""
            type -P nft >/dev/null && nsenter --net=/run/netns/$1-$2 nft -f - <<END
            table ip damage {
                chain sent {
                    type filter hook output priority 0
                    tcp sport $3 meta length > 1000 numgen inc mod 5 == 0 @ih,4000,8 set 0x5a
                }
            }
            END
            """, node, PORT).exit() == 0;
    }

    /**
     * Makes each node lose two of a hundred TCP packets that others send it: connections lose some in both directions.
     *
     * @return false if there is no program for it
     */
    boolean lose() {
        return run("""
            type -P nft >/dev/null || exit
            for node in $(seq $2); do
                nsenter --net=/run/netns/$1-$node nft -f - <<END || exit
            table ip loss {
                chain received {
                    type filter hook input priority 0
                    iifname peers meta l4proto tcp numgen random mod 100 < 2 counter drop
                }
            }
            END
            done
            """, nodes).exit() == 0;
    }

    /** The packets that all nodes have lost since {@link #lose}. */
    long lost() {
        return counted("loss");
    }

    private long counted(String table) {
        String rules = run(
                        "for node in $(seq $2); do nsenter --net=/run/netns/$1-$node nft list table ip $3; done",
                        nodes,
                        table)
                .orThrow();
        return Pattern.compile("counter packets (\\d+)")
                .matcher(rules)
                .results()
                .mapToLong(node -> Long.parseLong(node.group(1)))
                .sum();
    }

    /**
     * Makes each packet between nodes take 20 ms.
     *
     * @return whether the kernel supports that
     */
    boolean delay() {
        return run(
                                "for node in $(seq $2); do tc -n $1-$node qdisc replace dev peers root netem delay"
                                        + " 20ms || exit; done",
                                nodes)
                        .exit()
                == 0;
    }

    /**
     * Redirects connections between nodes that begin from now on to the same ports of {@link #DETOUR}.
     *
     * @return false if there is no program for it
     */
    boolean detour() {
        return run("""
            type -P nft >/dev/null || exit
            ip -n $1 addr add $2/24 dev store
            for node in $(seq $3); do
                ip -n $1 addr add $5$node/24 dev peers
                rules+="ip daddr $4$node tcp dport $6-$(($6 + 1)) counter dnat to $5$node;"
            done
            for node in $(seq $3); do
                nsenter --net=/run/netns/$1-$node nft -f - <<END || exit
            table ip detour {
                chain sent {
                    type nat hook output priority -100
                    $rules
                }
            }
            END
            done
            """, SWITCHES, nodes, PEERS, DETOUR, PORT).exit() == 0;
    }

    /** The number of the nodes' connections through {@link #detour}. */
    long detoured() {
        return counted("detour");
    }

    /** The beginning of the command line of a program on {@link #SWITCHES}. */
    static List<String> onSwitches() {
        return List.of("nsenter", "--net=/run/netns/" + NAME);
    }

    private void remove() {
        run("ip link del $1; for node in $(seq $2); do ip netns del $1-$node; done; ip netns del $1", nodes);
    }

    /** Programs on the nodes must have ended. */
    @Override
    public void close() throws IOException {
        store.close();
        remove();
    }
}
