package io.penstock.cache.disk;

import io.penstock.cache.disk.IndexRecord.ObjectPacked;

/**
 * The only page of a small object, in a pack ({@link Packs}). It exists as long as the pack's pages that contain it.
 *
 * <p>Heap for each: this object 40 bytes, its id 32, its entry in the table 40 and its slot in the extent's list 6.
 */
public final class PackedPage implements StoredPage {
    private final ObjectId id;
    private final Extent extent;
    private final long position;
    private final int length;
    private final int checksum;
    private volatile boolean verified;

    /**
     * @param extent the pack's extent
     * @param position in the pack's file
     */
    public PackedPage(ObjectId id, Extent extent, long position, int length, int checksum, boolean verified) {
        this.id = id;
        this.extent = extent;
        this.position = position;
        this.length = length;
        this.checksum = checksum;
        this.verified = verified;
    }

    /** The id of the small object. */
    ObjectId id() {
        return id;
    }

    ObjectPacked toRecord() {
        return new ObjectPacked(extent.object().fileName(), id, position, length, checksum);
    }

    @Override
    public Extent extent() {
        return extent;
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public int length() {
        return length;
    }

    @Override
    public boolean isThere() {
        int first = PageGeometry.PACKS.pageAt(position);
        int last = PageGeometry.PACKS.pageAt(position + length - 1);
        return extent.has(first) && (last == first || extent.has(last));
    }

    @Override
    public boolean isVerified() {
        return verified;
    }

    @Override
    public void setVerified() {
        verified = true;
    }

    @Override
    public int checksum() {
        return checksum;
    }
}
