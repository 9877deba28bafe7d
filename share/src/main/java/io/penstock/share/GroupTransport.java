package io.penstock.share;

import io.penstock.core.Printable;
import java.io.DataInput;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Objects;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.PhysicalAddress;
import org.jgroups.blocks.cs.Connection;
import org.jgroups.blocks.cs.TcpServer;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.BasicTCP;
import org.jgroups.protocols.TCP;
import org.jgroups.util.AsciiString;
import org.jgroups.util.ByteArrayDataInputStream;
import org.jgroups.util.Digest;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.MutableDigest;
import org.jgroups.util.SeqnoList;
import org.jgroups.util.SizeStreamable;
import org.jgroups.util.SocketFactory;
import org.jgroups.util.TLS;
import org.jgroups.util.TLSClientAuth;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * JGroups' {@link TCP}, for a port that strangers reach: their bytes determine neither how much is allocated nor how
 * long others wait. Each connection has its handshake on its own thread, a frame is complete and bounded before it is
 * parsed, and no length in it exceeds the frame. A malformed frame ends its connection.
 */
final class GroupTransport extends BasicTCP {
    /** JGroups' log field is named after this class, and silent like all logs of JGroups. */
    private static final Logger LOG = LoggerFactory.getLogger(ShareGroup.class);

    /** The maximum bytes of a frame: the view of a thousand members that joins two groups has 115,000. */
    static final int LONGEST = 128 << 10;

    /** Version and flags. */
    private static final int SHORTEST = 3;

    /** A number up to this is accepted unchecked, because not every number is a length. */
    private static final int HARMLESS = 1 << 16;

    /** Bytes of each of a connection's two buffers: JGroups' default of 64 KiB would be 128 MiB for 1,000 members. */
    private static final int BUFFER = 8 << 10;

    private static final int PEER_ADDRESS_MILLIS = 3_000;

    /** Members send several times a second; a silent peer is a stranger, or has left. */
    private static final int SILENCE_MILLIS = 30_000;

    /** The maximum number of unfinished handshakes; one more ends the oldest. */
    private static final int MOST_UNFINISHED = 64;

    /** One for each MiB of heap. With TLS and all buffers full, each takes a quarter of that. */
    private static final long MOST = Runtime.getRuntime().maxMemory() >> 20;

    private static final Set<Class<?>> OBJECTS = Set.of(SeqnoList.class, Digest.class, MutableDigest.class);

    private final @Nullable SSLContext encryption;
    private final OncePerMinute warnings = new OncePerMinute(System::nanoTime);
    private @Nullable Server server;

    /** @param encryption null for connections in the clear */
    GroupTransport(InetSocketAddress address, @Nullable SSLContext encryption) {
        this.encryption = encryption;
        setId(ClassConfigurator.getProtocolId(TCP.class)); // on the wire
        setBindAddr(address.getAddress()).setBindPort(address.getPort()).setPortRange(0);
        useVirtualThreads(true);
        getThreadPool().setMinThreads(0);
        enableSuspectEvents(true);
        setSockConnTimeout(300).setPeerAddrReadTimeout(PEER_ADDRESS_MILLIS);
        logDetails(false);
    }

    @Override
    public void start() throws Exception {
        if (encryption != null) {
            setSocketFactory(new TLS()
                    .setSSLContext(encryption)
                    .setProtocols(new String[] {GroupTls.PROTOCOL})
                    .setClientAuth(TLSClientAuth.NEED)
                    .createSocketFactory());
        }
        Server made = new Server(this, getSocketFactory(), bind_addr, bind_port);
        made.setBufferedInputStreamSize(BUFFER)
                .setBufferedOutputStreamSize(BUFFER)
                .peerAddressReadTimeout(peer_addr_read_timeout)
                .usePeerConnections(true)
                .socketFactory(getSocketFactory())
                .receiver(this)
                .timeService(time_service)
                .socketConnectionTimeout(sock_conn_timeout)
                .clientBindAddress(client_bind_addr)
                .connExpireTimeout(SILENCE_MILLIS)
                .reaperInterval(SILENCE_MILLIS / 2)
                .log(log)
                .logDetails(log_details)
                .addConnectionListener(this);
        server = made;
        super.start();
    }

    private Server server() {
        return Objects.requireNonNull(server, "not started");
    }

    @Override
    protected void handleConnect() throws Exception {
        server().start();
        connected = true;
        super.handleConnect();
    }

    @Override
    protected void handleDisconnect() {
        super.handleDisconnect();
        connected = false;
        server().stop();
    }

    @Override
    public void stop() {
        super.stop();
        Util.close(server);
    }

    @Override
    public void send(Address to, byte[] data, int offset, int length) throws Exception {
        server().send(to, data, offset, length);
    }

    @Override
    public void retainAll(Collection<Address> members) {
        server().retainAll(members, is_member);
    }

    @Override
    public String printConnections() {
        return server().printConnections();
    }

    @Override
    public BasicTCP clearConnections(boolean graceful) {
        server().clearConnections(graceful);
        return this;
    }

    @Override
    protected @Nullable PhysicalAddress getPhysicalAddress() {
        return server == null ? null : (PhysicalAddress) server.localAddress();
    }

    /** An exception ends the connection. Malformed frames are logged here, at most once a minute. */
    @Override
    public void receive(Address sender, DataInput in, int length) throws Exception {
        if (length < SHORTEST || length > LONGEST) {
            throw refused(sender, "a frame of " + length + " bytes");
        }
        byte[] frame = ((InputStream) in).readNBytes(length); // allocates only as bytes arrive
        if (frame.length < length) {
            throw new EOFException();
        }
        if (Objects.equals(local_physical_addr, sender)) {
            return; // like TP: such a message was already delivered
        }
        try {
            parse(sender, new Frame(frame, 0, length));
        } catch (IOException | ClassNotFoundException | RuntimeException e) {
            throw refused(sender, String.valueOf(e));
        }
    }

    private EOFException refused(Address sender, String why) {
        if (warnings.pass()) {
            LOG.warn(
                    "share.listen: the group's port received a message that no node sends, and closed the"
                            + " connection: {}: {}",
                    sender,
                    Printable.text(why));
        }
        return new EOFException(why); // JGroups takes this for the end of the connection
    }

    private void parse(Address sender, Frame in) throws IOException, ClassNotFoundException {
        if (!versionMatch(in.readShort(), sender)) {
            return;
        }
        byte flags = in.readByte();
        boolean isMulticast = (flags & MULTICAST) == MULTICAST;
        if ((flags & LIST) == LIST) {
            parseBatch(in, isMulticast);
            return;
        }
        Message message = message(in, null, null);
        if (isMulticast || !unicastDestMismatch(message.getDest())) {
            msg_processing_policy.process(message, message.isFlagSet(Message.Flag.OOB));
            msg_stats.received(message);
        }
    }

    /** Like {@link Util#readMessageBatch}. */
    private void parseBatch(Frame in, boolean isMulticast) throws IOException, ClassNotFoundException {
        Address to = Util.readAddress(in);
        Address from = Util.readAddress(in);
        byte[] group = new byte[in.readUnsignedShort()];
        in.readFully(group);
        MessageBatch regular = batch(to, from, group, isMulticast, MessageBatch.Mode.REG);
        MessageBatch urgent = batch(to, from, group, isMulticast, MessageBatch.Mode.OOB);
        for (int left = in.readInt(); left > 0; left--) {
            Message message = message(in, to, from);
            (message.isFlagSet(Message.Flag.OOB) ? urgent : regular).add(message);
        }
        msg_stats.received(urgent);
        msg_stats.received(regular);
        processBatch(urgent, true);
        processBatch(regular, false);
    }

    private static MessageBatch batch(
            @Nullable Address to, @Nullable Address from, byte[] group, boolean isMulticast, MessageBatch.Mode mode) {
        return new MessageBatch(to, from, new AsciiString(group), isMulticast, mode, 4);
    }

    private static Message message(Frame in, @Nullable Address to, @Nullable Address from)
            throws IOException, ClassNotFoundException {
        short type = in.readShort();
        Message message = switch (type) {
            case Message.BYTES_MSG -> new BytesMessage();
            case Message.EMPTY_MSG -> new EmptyMessage();
            case Message.OBJ_MSG -> new Numbers();
            default -> throw new IOException("a message of type " + type);
        };
        message.setDest(to).setSrc(from);
        message.readFrom(in);
        if (message.isFlagSet(Message.Flag.SERIALIZED)) {
            throw new IOException("a Java object"); // JGroups would deserialize any object
        }
        return message;
    }

    /** The objects that members send. JGroups' own class would accept objects of any class that the peer names. */
    private static final class Numbers extends ObjectMessage {
        @Override
        public void readPayload(DataInput in) throws IOException, ClassNotFoundException {
            if (in.readByte() == 0) {
                return;
            }
            short type = in.readShort();
            SizeStreamable object = ClassConfigurator.create(type);
            if (!OBJECTS.contains(object.getClass())) {
                throw new IOException("an object of type " + type);
            }
            object.readFrom(in);
            obj = object;
        }
    }

    /** JGroups allocates as much as an int claims: for the payload, for the numbers in a list. */
    static final class Frame extends ByteArrayDataInputStream {
        Frame(byte[] bytes, int offset, int length) {
            super(bytes, offset, length);
        }

        @Override
        public int readInt() throws IOException {
            int number = super.readInt();
            // The smallest int minus one, as a list computes the index of its last word, is the largest.
            if (number > Math.max(limit - pos, HARMLESS) || number == Integer.MIN_VALUE) {
                throw new IOException("a length of " + number + " where " + (limit - pos) + " bytes are left");
            }
            return number;
        }
    }

    /** Accepts connections. */
    private static final class Server extends TcpServer {
        /** In the order of arrival; guarded by itself. */
        private final Deque<Socket> unfinished = new ArrayDeque<>();

        Server(BasicTCP transport, SocketFactory sockets, InetAddress address, int port) throws Exception {
            super(transport.getThreadFactory(), sockets, address, port, port, null, 0, 0);
            acceptor = factory.newThread(new Handshakes(), "TcpServer.Acceptor[" + port + "]");
        }

        @Override
        public void notifyConnectionClosed(Connection connection) {
            super.notifyConnectionClosed(connection);
            Util.close(connection); // it may not be in the table yet
        }

        private final class Handshakes extends Acceptor {
            @Override
            protected void handleAccept(Socket client) {
                synchronized (unfinished) {
                    unfinished.addLast(client);
                    if (unfinished.size() > MOST_UNFINISHED) {
                        Socket oldest = unfinished.removeFirst();
                        factory.newThread(() -> Util.close(oldest), "TcpServer.Close")
                                .start(); // TLS may wait
                    }
                }
                factory.newThread(() -> begin(client), "TcpServer.Handshake").start();
            }

            private void begin(Socket client) {
                try {
                    super.handleAccept(client); // includes the handshake: it reads the peer's address
                    if (conns.size() > MOST) {
                        conns.values().removeIf(Connection::isClosed);
                    }
                    if (conns.size() > MOST) {
                        Util.close(client);
                    }
                } catch (Exception e) { // JGroups declares no more specific one
                    LOG.debug("a connection to the group's port that is not from a node", e);
                    Util.close(client);
                } finally {
                    synchronized (unfinished) {
                        unfinished.remove(client);
                    }
                }
            }
        }
    }
}
