package io.penstock.share;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.Crc32c;
import io.penstock.core.ObjectVersion;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestData;
import io.penstock.testing.TestTier;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.Version;
import org.jgroups.View;
import org.jgroups.blocks.cs.Connection;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.FRAG2;
import org.jgroups.protocols.FragHeader;
import org.jgroups.protocols.PingData;
import org.jgroups.protocols.PingHeader;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TpHeader;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.UnicastHeader3;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.NakAckHeader2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.MutableDigest;
import org.jgroups.util.SeqnoList;
import org.jgroups.util.Util;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Input of strangers at a node's two ports, while the node serves others. */
@Timeout(600)
class StrangersTest {
    private static final int INPUTS = TestTier.choose("penstock.inputs", 500, 10_000);
    private static final int BETWEEN_CHECKS = 250;

    /** Connections that strangers leave open and silent. */
    private static final int SILENT = 100;

    /** Bytes that JGroups may send before it closes a connection. */
    private static final int GOODBYE = 4;

    private static final String GROUP = Membership.group(TestNode.NAMESPACE);

    @TempDir
    private Path folder;

    private AttackedNode node;

    private final InMemoryObjectStore bucket = new InMemoryObjectStore();
    private final ObjectVersion file = bucket.putTestData(AttackedNode.KEY, AttackedNode.SIZE);
    private final Deque<Socket> silent = new ArrayDeque<>();

    @BeforeEach
    void start() throws IOException {
        node = new AttackedNode(folder.resolve("attacked"), null);
    }

    @AfterEach
    void close() throws Exception {
        for (Socket each : silent) {
            each.close();
        }
        node.end();
    }

    @Test
    void frame_thatLiesAboutItsPayload_endsItsConnectionOnly() throws Exception {
        byte[] frame = new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, -1, -1, -1}; // the last four are the length
        ByteBuffer.wrap(frame).putShort(Version.version).put((byte) 0).putShort(Message.BYTES_MSG);
        for (int i = 0; i < 3; i++) {
            try (Socket socket = connect(node.group())) {
                socket.getOutputStream().write(concat(hello(20_000 + i), framed(frame.length, frame)));
                assertThat(socket.getInputStream().readAllBytes()).hasSizeLessThanOrEqualTo(GOODBYE);
            }
        }
        assertServes();
    }

    @Test
    void frame_longerThanAny_endsItsConnectionOnly() throws Exception {
        for (int length : new int[] {GroupTransport.LONGEST + 1, Integer.MAX_VALUE, -1, Integer.MIN_VALUE, 0}) {
            try (Socket socket = connect(node.group())) {
                socket.getOutputStream().write(concat(hello(20_000), framed(length, new byte[3])));
                assertThat(socket.getInputStream().readAllBytes())
                        .as("length " + length)
                        .hasSizeLessThanOrEqualTo(GOODBYE);
            }
        }
        assertServes();
    }

    @Test
    void numbers_farAhead_areRefused() throws Exception {
        Address stranger = ExtendedUUID.randomUUID("stranger");
        try (Socket socket = connect(node.group())) {
            socket.getOutputStream().write(hello(20_000));
            for (long number : new long[] {1, 1L << 30, (1L << 31) - 1, 1L << 40, Long.MAX_VALUE}) {
                Message message = new BytesMessage(null, new byte[10])
                        .setSrc(stranger)
                        .putHeader(id(UNICAST3.class), UnicastHeader3.createDataHeader(number, (short) 1, number == 1));
                socket.getOutputStream().write(framed(message, false));
            }
        }
        assertServes();
    }

    /** JGroups would deserialize such a message as a Java object, of any class that it names. */
    @Test
    void object_ofJava_isRefused() throws Exception {
        Message message = new BytesMessage(null, new byte[10])
                .setFlag(Message.Flag.SERIALIZED)
                .setSrc(ExtendedUUID.randomUUID("stranger"))
                .putHeader(id(NAKACK2.class), NakAckHeader2.createXmitRequestHeader(null));
        try (Socket socket = connect(node.group())) {
            socket.getOutputStream().write(concat(hello(20_000), framed(message, true)));
            assertThat(socket.getInputStream().readAllBytes()).hasSizeLessThanOrEqualTo(GOODBYE);
        }
    }

    @Test
    void connections_thatSayNothing_keepNoNodeOut() throws Exception {
        for (int i = 0; i < 40; i++) {
            silent.add(connect(node.group()));
        }
        assertJoins();
    }

    @Test
    void requests_thatAreNotFinished_leaveTheNodeItsMemory() throws Exception {
        byte[] head = ("GET /x HTTP/1.1\r\nHost: x\r\nX: " + "a".repeat(300_000)).getBytes(ISO_8859_1);
        for (int i = 0; i < 180; i++) {
            Socket socket = connect(node.listen);
            silent.add(socket);
            try {
                socket.getOutputStream().write(head, 0, i % 2 == 0 ? 16_000 : head.length);
            } catch (IOException e) {
                // refused before the end
            }
        }
        assertServes();
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 30})
    void frame_ofAListOfAnAbsurdLength_isRefused(int length) throws Exception {
        ByteArrayDataOutputStream list = new ByteArrayDataOutputStream(100);
        list.writeInt(length);
        list.writeLong(1);
        GroupTransport.Frame frame = new GroupTransport.Frame(list.buffer(), 0, list.position());

        assertThatThrownBy(() -> new SeqnoList().readFrom(frame)).isInstanceOf(IOException.class);
    }

    @Test
    void frames_ofAllKinds_areSurvived() throws Exception {
        Seeded.check(3, random -> {
            List<byte[]> frames = validFrames(random);
            for (int i = 0; i < INPUTS; i++) {
                byte[] input = frames.get(random.nextInt(frames.size()));
                byte[] more = frames.get(random.nextInt(frames.size()));
                byte[] hello = hello(20_000 + random.nextInt(50));
                send(
                        node.group(),
                        random,
                        concat(
                                random.nextInt(20) == 0 ? mutated(hello, random) : hello,
                                mutated(input, random),
                                random.nextBoolean() ? more : mutated(more, random)));
                checkSometimes(i);
            }
            assertJoins();
        });
    }

    @Test
    void requests_ofAllKinds_areSurvived() throws Exception {
        byte[] right = request("right").getBytes(ISO_8859_1);
        byte[] absurd = request("right")
                .replaceFirst("size=\\d+", "size=" + Long.MAX_VALUE)
                .replaceFirst("from=\\d+", "from=" + (Long.MAX_VALUE - (1 << 20)))
                .getBytes(ISO_8859_1);
        byte[] body = request("right")
                .replaceFirst("\r\n\r\n", "\r\nContent-Length: 9223372036854775807\r\n\r\n")
                .getBytes(ISO_8859_1);
        List<byte[]> requests = List.of(right, absurd, body, request("wrong").getBytes(ISO_8859_1));
        Seeded.check(3, random -> {
            for (int i = 0; i < INPUTS; i++) {
                send(node.listen, random, mutated(requests.get(random.nextInt(requests.size())), random));
                checkSometimes(i);
            }
        });
    }

    private void checkSometimes(int input) throws Exception {
        if (input % BETWEEN_CHECKS == BETWEEN_CHECKS - 1) {
            assertServes();
        }
    }

    /** Closes most connections immediately, reads from some, leaves some open. */
    private void send(InetSocketAddress to, RandomGenerator random, byte[] input) {
        try {
            Socket socket = connect(to);
            if (random.nextInt(50) == 0) {
                silent.add(socket);
                if (silent.size() > SILENT) {
                    silent.removeFirst().close();
                }
            }
            socket.getOutputStream().write(input);
            if (random.nextInt(4) == 0) {
                socket.setSoTimeout(20);
                socket.getInputStream().readNBytes(1 << 10);
            }
            if (!silent.contains(socket)) {
                socket.close();
            }
        } catch (IOException e) {
            // the node closed the connection
        }
    }

    /** Flips, truncates, repeats, or inserts false lengths. */
    static byte[] mutated(byte[] input, RandomGenerator random) {
        byte[] bytes = input.clone();
        switch (random.nextInt(6)) {
            case 0 -> {}
            case 1 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
            case 2 -> bytes = concat(bytes, Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)));
            case 3 -> {
                int[] lies = {Integer.MAX_VALUE, -1, Integer.MIN_VALUE, 1 << 20, 1 << 28, 70_000, 0x7fff, 0xffff};
                ByteBuffer.wrap(bytes).putInt(random.nextInt(bytes.length - 3), lies[random.nextInt(lies.length)]);
            }
            default -> {
                for (int i = random.nextInt(8); i >= 0; i--) {
                    bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
                }
            }
        }
        return bytes;
    }

    /** One of each kind that members send, and some kinds that they do not. */
    private static List<byte[]> validFrames(RandomGenerator random) throws Exception {
        Address self = ExtendedUUID.randomUUID("stranger")
                .put("id", new byte[] {'s'})
                .put("at", "127.0.0.1:9".getBytes(ISO_8859_1));
        IpAddress physical = new IpAddress("127.0.0.1", 20_000);
        short multicast = id(NAKACK2.class);
        short unicast = id(UNICAST3.class);
        Address[] many = new Address[100];
        for (int i = 0; i < many.length; i++) {
            many[i] = ExtendedUUID.randomUUID("m" + i);
        }
        SeqnoList numbers = new SeqnoList(200, 1).add(1, 100);
        PingData ping = new PingData(self, true, "stranger", physical).mbrs(List.of(many));
        ByteArrayDataOutputStream view = new ByteArrayDataOutputStream(10_000);
        Util.writeView(View.create(self, 7, many), view);
        List<Message> messages = List.of(
                new EmptyMessage(null)
                        .putHeader((short) 1001, new PingHeader(PingHeader.GET_MBRS_REQ).clusterName(GROUP)),
                new BytesMessage(null, Util.streamableToBuffer(ping))
                        .putHeader((short) 1001, new PingHeader(PingHeader.GET_MBRS_RSP).clusterName(GROUP)),
                new BytesMessage(null, view.getBuffer())
                        .putHeader(id(GMS.class), new GMS.GmsHeader(GMS.GmsHeader.VIEW)),
                new EmptyMessage(null).putHeader(id(GMS.class), new GMS.GmsHeader(GMS.GmsHeader.JOIN_REQ, self)),
                new ObjectMessage(null, new MutableDigest(many))
                        .putHeader(
                                id(STABLE.class),
                                new STABLE.StableHeader(
                                        STABLE.StableHeader.STABLE_GOSSIP,
                                        View.create(self, 1, many).getViewId())),
                new ObjectMessage(null, numbers).putHeader(multicast, NakAckHeader2.createXmitRequestHeader(self)),
                new BytesMessage(null, new byte[100])
                        .putHeader(multicast, NakAckHeader2.createMessageHeader(random.nextLong(1L << 40))),
                new BytesMessage(null, new byte[100])
                        .putHeader(unicast, UnicastHeader3.createDataHeader(1, (short) 1, true)),
                new BytesMessage(null, new byte[100])
                        .putHeader(
                                unicast, UnicastHeader3.createDataHeader(random.nextLong(1L << 33), (short) 1, false)),
                new BytesMessage(null, new byte[100]).putHeader(id(FRAG2.class), new FragHeader(1, 0, 1 << 30)));
        List<byte[]> frames = new ArrayList<>();
        for (Message message : messages) {
            message.setSrc(self);
            message.putHeader(id(TCP.class), new TpHeader(GROUP));
            frames.add(framed(message, true));
            frames.add(framed(message, false));
        }
        ByteArrayDataOutputStream batch = new ByteArrayDataOutputStream(10_000);
        batch.writeShort(Version.version);
        Util.writeMessageList(null, self, GROUP.getBytes(ISO_8859_1), messages, batch, true);
        frames.add(framed(batch.position(), Arrays.copyOf(batch.buffer(), batch.position())));
        return frames;
    }

    private static short id(Class<?> protocol) {
        return ClassConfigurator.getProtocolId(protocol);
    }

    private static byte[] framed(Message message, boolean isMulticast) throws IOException {
        ByteArrayDataOutputStream out = new ByteArrayDataOutputStream(1_000);
        out.writeShort(Version.version);
        out.writeByte(isMulticast ? 2 : 0);
        out.writeShort(message.getType());
        message.writeTo(out);
        return framed(out.position(), Arrays.copyOf(out.buffer(), out.position()));
    }

    private static byte[] framed(int length, byte[] frame) {
        return ByteBuffer.allocate(Integer.BYTES + frame.length)
                .putInt(length)
                .put(frame)
                .array();
    }

    /** A node's first bytes: JGroups' cookie, and the address that it claims. */
    private static byte[] hello(int port) throws IOException {
        ByteArrayDataOutputStream out = new ByteArrayDataOutputStream(100);
        IpAddress claimed = new IpAddress("127.0.0.1", port);
        out.write(Connection.cookie);
        out.writeShort(Version.version);
        out.writeShort(claimed.serializedSize());
        claimed.writeTo(out);
        return Arrays.copyOf(out.buffer(), out.position());
    }

    private static byte[] concat(byte[]... parts) {
        int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
        ByteBuffer all = ByteBuffer.allocate(length);
        for (byte[] part : parts) {
            all.put(part);
        }
        return all.array();
    }

    private static Socket connect(InetSocketAddress to) throws IOException {
        Socket socket = new Socket(to.getAddress(), to.getPort());
        socket.setSoTimeout(60_000);
        return socket;
    }

    private String request(String proof) {
        return request(file, proof);
    }

    static String request(ObjectVersion file, String proof) {
        PeerRequest all = new PeerRequest(TestNode.NAMESPACE, file, new ByteRange(0, file.size()), Urgency.DEMAND);
        return "GET " + all.target() + " HTTP/1.1\r\nHost: x\r\n" + PeerRequest.PROOF + ": " + proof + "\r\n\r\n";
    }

    /** Waits for a connection that is not refused: those of strangers may occupy all places. */
    private void assertServes() throws Exception {
        assertServes(node, file, () -> connect(node.listen));
    }

    static void assertServes(AttackedNode node, ObjectVersion file, Callable<Socket> connect) {
        TestNode.await("the node serves", () -> {
            assertThat(node.process.isAlive()).as("the attacked node lives").isTrue();
            try (Socket socket = connect.call()) {
                socket.getOutputStream().write(request(file, "right").getBytes(ISO_8859_1));
                return isRight(socket, file);
            } catch (Exception e) {
                return false;
            }
        });
    }

    /** Whether the response has bytes, which are then compared. */
    static boolean isRight(Socket socket, ObjectVersion file) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        StringBuilder head = new StringBuilder();
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            head.append(line);
        }
        if (!head.toString().startsWith("HTTP/1.1 206")) {
            return false;
        }
        for (long at = 0; at < file.size(); ) {
            byte[] chunk = in.readNBytes(Chunks.length(at, file.size()));
            TestData.of(file.key(), file.size()).verify(at, ByteBuffer.wrap(chunk));
            assertThat(in.readInt()).isEqualTo(Crc32c.of(ByteBuffer.wrap(chunk)));
            at += chunk.length;
        }
        return true;
    }

    private static String line(DataInputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.readUnsignedByte(); c != '\n'; c = in.readUnsignedByte()) {
            line.append((char) c);
        }
        return line.toString().strip();
    }

    /** Another node finds the attacked one, and both are members. */
    private void assertJoins() throws Exception {
        try (TestNode other = new TestNode(folder.resolve("other"), bucket);
                ShareGroup group = ShareGroup.start(
                        new ShareConfig(
                                new Discovery.Addresses(List.of(node.listen)),
                                FakeGroup.freeAddress(),
                                folder.resolve("id"),
                                null,
                                0,
                                TestNode.NAMESPACE),
                        other.fetcher,
                        new FakeProof())) {
            String attacked = GroupMember.address(node.listen);
            TestNode.await("the other node is a member", () -> {
                assertThat(node.process.isAlive()).as("the attacked node lives").isTrue();
                return group.statistics().members().stream()
                        .anyMatch(member -> member.address().equals(attacked));
            });
            other.readAll(file);
        }
    }
}
