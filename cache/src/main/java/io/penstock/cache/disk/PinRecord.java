package io.penstock.cache.disk;

import io.penstock.disk.RecordLog;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** A record of the pin log. Encoded as a type byte and the fields in order. */
sealed interface PinRecord {
    /** The version is pinned, replacing any other version of the object. */
    record Pinned(Pin pin) implements PinRecord {}

    /** No version of the object is pinned. */
    record Unpinned(String namespace, String key) implements PinRecord {}

    RecordLog.Format<PinRecord> FORMAT = new RecordLog.Format<>(
            0x50454e53_50494e01L, // "PENSPIN", version 1
            false,
            1L << 20,
            PinRecord::encode,
            PinRecord::decode);

    private void encode(DataOutputStream to) throws IOException {
        switch (this) {
            case Pinned(Pin pin) -> {
                to.writeByte(1);
                to.writeUTF(pin.namespace());
                to.writeUTF(pin.key());
                to.writeLong(pin.id().high());
                to.writeLong(pin.id().low());
                to.writeLong(pin.bytes());
                to.writeLong(pin.until());
            }
            case Unpinned(String namespace, String key) -> {
                to.writeByte(2);
                to.writeUTF(namespace);
                to.writeUTF(key);
            }
        }
    }

    private static PinRecord decode(DataInputStream from) throws IOException {
        int type = from.readByte();
        String namespace = from.readUTF().intern(); // there are only one or two
        String key = from.readUTF();
        return switch (type) {
            case 1 ->
                new Pinned(new Pin(
                        namespace,
                        key,
                        new ObjectId(from.readLong(), from.readLong()),
                        from.readLong(),
                        from.readLong()));
            case 2 -> new Unpinned(namespace, key);
            default -> throw new IOException("unknown record type: " + type);
        };
    }
}
