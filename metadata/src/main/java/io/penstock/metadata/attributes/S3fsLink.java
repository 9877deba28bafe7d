package io.penstock.metadata.attributes;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ObjectDescription;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A symbolic link made by s3fs: its target is the object's content. */
final class S3fsLink {
    /** Bytes: PATH_MAX without its zero. */
    private static final int LONGEST_TARGET = 4095;

    private S3fsLink() {}

    /** Whether the object is one. */
    static boolean isOne(ObjectDescription there) {
        long size = there.object().version().size();
        return size > 0 && size <= LONGEST_TARGET && AttributeHeaders.isTargetContent(there.headers());
    }

    /** The target, requested from the store. */
    static String target(ObjectStore store, ObjectVersion version) throws ObjectStoreException, InterruptedException {
        ByteBuffer bytes = ByteBuffer.allocate((int) version.size());
        store.get(version, new ByteRange(0, version.size()), new BodySink() {
            @Override
            public ByteBuffer buffer() {
                return bytes;
            }

            @Override
            public void filled(int received) {
                // in place
            }
        });
        return StandardCharsets.UTF_8.decode(bytes.flip()).toString().strip(); // as s3fs does
    }
}
