package io.penstock.cache;

/** How the bytes of an object are divided into pages. */
final class PageGeometry {
    /** Bytes in a page; the last page of an object is as long as what is left of it. */
    static final int PAGE_SIZE = 1 << 20;

    static final int PAGE_SHIFT = Integer.numberOfTrailingZeros(PAGE_SIZE);

    private PageGeometry() {}

    static long start(int page) {
        return (long) page << PAGE_SHIFT;
    }

    /** The page that holds the position. */
    static int pageAt(long position) {
        return (int) (position >> PAGE_SHIFT);
    }
}
