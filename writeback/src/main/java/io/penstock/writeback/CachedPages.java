package io.penstock.writeback;

import io.penstock.cache.CachedObject;
import io.penstock.cache.Fill;
import io.penstock.cache.PageCache;
import io.penstock.cache.Urgency;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.MountContext.CommittedPages;
import io.penstock.writeback.bytes.BaseLayer;
import io.penstock.writeback.bytes.Snapshot;
import io.penstock.writeback.staging.StagedData;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives committed pages to the page cache: as the data file if the content is staged, else by filling the cache's
 * memory. Only pages that were written as a whole; all others stay Missing.
 */
record CachedPages(PageCache cache, String namespace) implements CommittedPages {
    private static final Logger log = LoggerFactory.getLogger(CachedPages.class);

    @Override
    public void cache(ObjectVersion version, Snapshot content) {
        try {
            BitSet whole = content.wholePages();
            if (whole.isEmpty()) {
                return;
            }
            BaseLayer under = content.layer();
            boolean staged = PageCache.hasOwnFile(version.size())
                    && under.data().isThere()
                    && !under.staged().isSuspect()
                    && content.stageAll();
            if (!staged || !adopt(version, content, whole)) {
                fill(version, content, whole);
            }
        } catch (ObjectStoreException | IOException e) {
            log.debug("The written data of {} is not cached", version, e);
        } catch (RuntimeException | Error e) { // the commit has succeeded, and nothing may undo it
            log.error("Giving {} to the cache failed unexpectedly", version, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** False if the cache does not take the file: it is on another disk, or the cache already has pages of it. */
    private boolean adopt(ObjectVersion version, Snapshot content, BitSet whole)
            throws ObjectStoreException, IOException, InterruptedException {
        int[] checksums = new int[whole.length()];
        for (int page = whole.nextSetBit(0); page >= 0; page = whole.nextSetBit(page + 1)) {
            checksums[page] = content.checksum(page);
        }
        content.retire();
        content.layer().staged().forgetJournal(); // first: it refers to data that is about to be freed or removed
        StagedData data = content.layer().data();
        data.freeAllBut(whole);
        return data.giveTo(cache, version, whole, checksums);
    }

    private void fill(ObjectVersion version, Snapshot content, BitSet whole)
            throws ObjectStoreException, IOException, InterruptedException {
        try (CachedObject object = cache.open(namespace, version)) {
            for (int page = whole.nextSetBit(0); page >= 0; page = whole.nextSetBit(page + 1)) {
                Fill fill = object.claim(page, page + 1L, Urgency.LATER);
                if (fill != null) {
                    fill(fill, content);
                }
            }
        }
    }

    private static void fill(Fill fill, Snapshot content)
            throws ObjectStoreException, IOException, InterruptedException {
        long at = fill.range().offset();
        Exception cause = new IllegalStateException("written data could not be read back");
        try {
            while (at < fill.range().end()) {
                ByteBuffer buffer = fill.buffer();
                int length = buffer.remaining();
                content.readAt(at, buffer);
                fill.filled(length);
                at += length;
            }
        } catch (ObjectStoreException | IOException | InterruptedException e) {
            cause = e;
            throw e;
        } finally {
            fill.fail(cause); // whatever the cause: readers of a claimed page wait until its fill ends
        }
    }
}
