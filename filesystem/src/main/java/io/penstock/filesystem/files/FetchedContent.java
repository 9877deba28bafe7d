package io.penstock.filesystem.files;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.ObjectReader;
import io.penstock.prefetch.PageFetcher;
import io.penstock.writeback.bytes.BaseContent;
import java.nio.ByteBuffer;

/** Reads the content below written files in the same way as other files: through the page cache, with readahead. */
public record FetchedContent(PageFetcher fetcher) implements BaseContent {
    @Override
    public Reader open(ObjectVersion version) {
        return new FetchedReader(fetcher.open(version));
    }

    private record FetchedReader(ObjectReader reader) implements Reader {
        @Override
        public int read(long position, ByteBuffer to) throws ObjectStoreException, InterruptedException {
            return reader.read(position, to, null, true);
        }

        @Override
        public void close() {
            reader.close();
        }
    }
}
