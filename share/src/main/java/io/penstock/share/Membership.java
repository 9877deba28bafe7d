package io.penstock.share;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Digests;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.TP;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.Protocol;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Table;
import org.jspecify.annotations.Nullable;

/**
 * The members that all of them agree on, maintained by JGroups. A member's identifier and the address of its bytes are
 * in its JGroups address, and come with each view. The timeouts are those measured in ADR 31.
 */
final class Membership implements AutoCloseable {
    private static final String ID = "id";
    private static final String ADDRESS = "at";

    private final GroupMember self;
    private final Consumer<Owners> changed;
    private final JChannel channel;
    private volatile Owners owners;

    /** @param changed called with each view's owners, one call after the other */
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
            new BoundedMulticasts().useMcastXmit(false),
            new BoundedUnicasts(),
            new STABLE().setDesiredAverageGossip(50_000),
            new GMS().setJoinTimeout(3_000).setMaxJoinAttempts(3).printLocalAddress(false)
        };
    }

    private static final class BoundedMulticasts extends NAKACK2 {
        BoundedMulticasts() {
            setId(ClassConfigurator.getProtocolId(NAKACK2.class)); // on the wire
        }

        @Override
        protected Table<Message> createTable(long last) {
            return new BoundedTable(last);
        }
    }

    private static final class BoundedUnicasts extends UNICAST3 {
        /** Anybody may send a first message, like a member about to join; its table is dropped after two minutes. */
        private static final int MOST_SENDERS = 4_096;

        BoundedUnicasts() {
            setId(ClassConfigurator.getProtocolId(UNICAST3.class));
        }

        @Override
        protected Table<Message> createTable(long first) {
            if (recv_table.size() >= MOST_SENDERS) {
                throw new IllegalStateException("messages of " + MOST_SENDERS + " members");
            }
            return new BoundedTable(first - 1);
        }
    }

    /** JGroups' table of messages that arrived early would grow to any number that a message claims. */
    private static final class BoundedTable extends Table<Message> {
        /** Numbered messages are views and requests to join: a few per minute. */
        private static final int MOST_ROWS = 1_024;

        private static final int ROWS = 16;
        private static final int ROW = 64;

        BoundedTable(long last) {
            super(ROWS, ROW, last, DEFAULT_RESIZE_FACTOR);
        }

        /** Called with the lock, for a number beyond the last row. */
        @Override
        protected void resize(long number) {
            if (computeRow(number) - computeRow(low) >= MOST_ROWS) {
                throw new IllegalStateException("a message with the number " + number + " after " + low);
            }
            super.resize(number);
        }
    }

    /** Groups of other buckets or protocol versions have other names, and share nothing. */
    static String group(String namespace) {
        byte[] hash = Digests.sha256().digest(namespace.getBytes(UTF_8));
        return "penstock-1-" + HexFormat.of().formatHex(hash, 0, 16);
    }

    /** Joins the others, or begins a group if there are none within 3 s. */
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

    /** Leaves the group and notifies the others. */
    @Override
    public void close() {
        channel.close();
    }
}
