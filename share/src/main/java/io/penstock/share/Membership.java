package io.penstock.share;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Digests;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jgroups.JChannel;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG2;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TP;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.TLSClientAuth;
import org.jspecify.annotations.Nullable;

/**
 * The list of members that all of them agree on, by JGroups. A member's identifier and the address of its bytes are in its
 * JGroups address, and come with each view. Times are those that ADR 31 measured.
 */
final class Membership implements AutoCloseable {
    private static final String ID = "id";
    private static final String ADDRESS = "at";

    /** Bytes of each of a connection's two buffers: JGroups' default of 64 KiB would be 128 MiB for 1,000 members. */
    private static final int BUFFER = 8 << 10;

    private final GroupMember self;
    private final Consumer<Owners> changed;
    private final JChannel channel;
    private volatile Owners owners;

    /** @param changed called with each view's owners, one after another */
    Membership(GroupMember self, TP transport, Protocol discovery, Consumer<Owners> changed) throws Exception {
        this.self = self;
        this.changed = changed;
        this.owners = Owners.alone(self);
        this.channel = new JChannel(protocols(transport, discovery));
        channel.getProtocolStack().getTransport().getDiagnosticsHandler().setEnabled(false);
        channel.setName(self.id());
        channel.addAddressGenerator(() -> ExtendedUUID.randomUUID(self.id())
                .put(ID, self.id().getBytes(UTF_8))
                .put(ADDRESS, self.address().getBytes(UTF_8)));
        channel.setReceiver(new Receiver() {
            @Override
            public void viewAccepted(View view) {
                accept(view);
            }
        });
    }

    private static Protocol[] protocols(TP transport, Protocol discovery) {
        return new Protocol[] {
            transport,
            discovery,
            new MERGE3().setMinInterval(1_000).setMaxInterval(5_000),
            new FD_ALL3().setTimeout(2_500).setInterval(500),
            new VERIFY_SUSPECT2().setTimeout(500),
            new NAKACK2().useMcastXmit(false),
            new UNICAST3(),
            new STABLE().setDesiredAverageGossip(50_000),
            new GMS().setJoinTimeout(3_000).setMaxJoinAttempts(3).printLocalAddress(false),
            new FRAG2().setFragSize(60_000)
        };
    }

    /** @param tls null for connections in the clear */
    static TP tcp(InetSocketAddress address, @Nullable SSLContext tls) {
        TCP transport = new TCP();
        transport
                .setBindAddr(address.getAddress())
                .setBindPort(address.getPort())
                .setPortRange(0);
        transport.useVirtualThreads(true);
        transport.getThreadPool().setMinThreads(0);
        transport.enableSuspectEvents(true);
        transport.setSockConnTimeout(300).setPeerAddrReadTimeout(3_000);
        transport.setBufferedInputStreamSize(BUFFER).setBufferedOutputStreamSize(BUFFER);
        transport.logDetails(false);
        if (tls != null) {
            transport
                    .tls()
                    .enabled(true)
                    .setSSLContext(tls)
                    .setProtocols(new String[] {GroupTls.PROTOCOL})
                    .setClientAuth(TLSClientAuth.NEED);
        }
        return transport;
    }

    /** Groups of other buckets and of other versions of the protocol have other names, and nothing in common. */
    static String group(String namespace) {
        byte[] hash = Digests.sha256().digest(namespace.getBytes(UTF_8));
        return "penstock-1-" + HexFormat.of().formatHex(hash, 0, 16);
    }

    /** Joins the others, or begins a group after 3 s without any. */
    void join(String group) throws Exception {
        channel.connect(group);
    }

    Owners owners() {
        return owners;
    }

    private void accept(View view) {
        List<GroupMember> nodes = Stream.of(view.getMembersRaw())
                .map(member -> member instanceof ExtendedUUID known ? node(known) : null)
                .filter(Objects::nonNull)
                .toList();
        owners = new Owners(self, nodes);
        changed.accept(owners);
    }

    private static @Nullable GroupMember node(ExtendedUUID member) {
        byte[] id = member.get(ID);
        byte[] address = member.get(ADDRESS);
        return id == null || address == null
                ? null
                : new GroupMember(new String(id, UTF_8), new String(address, UTF_8));
    }

    /** Tells the others. */
    @Override
    public void close() {
        channel.close();
    }
}
