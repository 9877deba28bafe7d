package io.penstock.cache.disk;

/** An object without pages in memory. */
final class ExtentsOnDisk extends ObjectExtents {
    /** @param size in bytes */
    ExtentsOnDisk(long size, PageGeometry geometry, int pagesPerExtent) {
        super(ObjectId.random(), size, geometry, 1, true, pagesPerExtent);
    }

    @Override
    protected boolean hasFrames() {
        return false;
    }

    @Override
    protected void discardFrames() {}

    @Override
    protected void forgotten() {}
}
