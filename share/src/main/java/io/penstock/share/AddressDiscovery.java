package io.penstock.share;

import java.io.DataInput;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.Event;
import org.jgroups.Message;
import org.jgroups.PhysicalAddress;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.Discovery;
import org.jgroups.protocols.PingData;
import org.jgroups.protocols.PingHeader;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ByteArray;
import org.jgroups.util.NameCache;
import org.jgroups.util.Responses;
import org.jspecify.annotations.Nullable;

/** JGroups' discovery at addresses from any source: at the start, and repeatedly through MERGE3. */
final class AddressDiscovery extends Discovery {
    /** JGroups requires an id above 512 for each protocol that is not its own. */
    private static final short ID = 1001;

    static {
        ClassConfigurator.addProtocol(ID, AddressDiscovery.class);
    }

    private final Supplier<? extends Collection<InetSocketAddress>> addresses;

    AddressDiscovery(Supplier<? extends Collection<InetSocketAddress>> addresses) {
        this.addresses = addresses;
    }

    @Override
    public boolean isDynamic() {
        return true;
    }

    @Override
    protected void findMembers(List<Address> members, boolean isInitial, Responses responses) {
        PhysicalAddress own = (PhysicalAddress) down(new Event(Event.GET_PHYSICAL_ADDRESS, local_addr));
        PingData data = new PingData(local_addr, false, NameCache.get(local_addr), own);
        ByteArray body = marshal(data);
        PingHeader header = new PingHeader(PingHeader.GET_MBRS_REQ)
                .clusterName(cluster_name)
                .initialDiscovery(isInitial);
        for (InetSocketAddress address : addresses.get()) {
            PhysicalAddress peer = new IpAddress(address.getAddress(), address.getPort());
            if (!peer.equals(own)) {
                // never bundled with others: its logical address is not known yet
                Message request = new BytesMessage(peer)
                        .setFlag(Message.Flag.DONT_BUNDLE, Message.Flag.OOB)
                        .setFlag(Message.TransientFlag.DONT_LOOPBACK)
                        .putHeader(id, header)
                        .setArray(body);
                timer.execute(() -> down_prot.down(request), true);
            }
        }
    }

    /** Like JGroups' method, which allocates a list of whatever length the message claims. */
    @Override
    protected @Nullable List<PingData> readPingData(byte @Nullable [] buffer, int offset, int length) {
        List<PingData> members = new ArrayList<>();
        try {
            DataInput in = new GroupTransport.Frame(buffer == null ? new byte[0] : buffer, offset, length);
            for (int left = in.readInt(); left > 0; left--) {
                PingData member = new PingData();
                member.readFrom(in);
                members.add(member);
            }
        } catch (IOException | ClassNotFoundException | RuntimeException e) {
            log.debug("not a list of members: %s", e);
            return null;
        }
        return members.isEmpty() ? null : members;
    }
}
