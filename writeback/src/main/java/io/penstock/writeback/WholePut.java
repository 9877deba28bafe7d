package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.io.InputStream;
import java.util.OptionalInt;

/** All at once, by a single PUT at the commit. Stands in for {@link FileUpload} until that is there. */
final class WholePut implements Upload {
    private final ObjectStore store;
    private final String key;
    private final FileContent content;

    WholePut(ObjectStore store, String key, FileContent content) {
        this.store = store;
        this.key = key;
        this.content = content;
    }

    @Override
    public void ready(ByteRange blocks) {}

    @Override
    public void changed(ByteRange range) {}

    @Override
    public ObjectVersion commit(long size, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        if (size == 0) {
            return store.put(key, new NoBytes(), condition);
        }
        try (FileContent.StillBody body = content.body(new ByteRange(0, size))) {
            return store.put(key, body, condition);
        }
    }

    @Override
    public void abandon() {}

    private static final class NoBytes implements UploadBody {
        @Override
        public long length() {
            return 0;
        }

        @Override
        public OptionalInt crc32c() {
            return OptionalInt.of(0);
        }

        @Override
        public InputStream open() {
            return InputStream.nullInputStream();
        }
    }
}
