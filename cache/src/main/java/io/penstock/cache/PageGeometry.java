package io.penstock.cache;

/** How the bytes of an object are divided into pages. */
final class PageGeometry {
    /** Bytes in a page; the last page of an object is as long as what is left of it. */
    static final int PAGE_SIZE = 1 << 20;

    private static final int SHIFT = Integer.numberOfTrailingZeros(PAGE_SIZE);

    private PageGeometry() {}

    static long start(int page) {
        return (long) page << SHIFT;
    }

    /** The page that holds the position. */
    static int pageAt(long position) {
        return (int) (position >> SHIFT);
    }

    static int count(long objectSize) {
        return Math.toIntExact((objectSize + PAGE_SIZE - 1) >> SHIFT);
    }

    static int length(long objectSize, int page) {
        return (int) Math.min(PAGE_SIZE, objectSize - start(page));
    }

    /** What a page takes on disk: whole blocks of the file system. */
    static long allocatedBytes(long objectSize, int page) {
        return (length(objectSize, page) + 4095L) & -4096L;
    }
}
