package io.penstock.cache;

/** How the bytes of an object are divided into pages. */
enum PageGeometry {
    /** The pages in which objects are cached as a rule. */
    PAGES(20),
    /**
     * The same bytes in small pieces: bytes that are read at random are fetched and kept without their surroundings.
     */
    SECTORS(16),
    /** A file whose pages hold small objects: see {@link Packs}. */
    PACKS(20);

    /** Bytes in a page; an object's last page ends with the object. */
    static final int PAGE_SIZE = PAGES.size();

    static final int SECTOR_SIZE = SECTORS.size();

    private final int shift;

    PageGeometry(int shift) {
        this.shift = shift;
    }

    /** Whether so large an object is stored in a pack. */
    static boolean isSmall(long objectBytes) {
        return objectBytes < PAGE_SIZE;
    }

    /** Bytes in a page; an object's last page ends with the object. */
    int size() {
        return 1 << shift;
    }

    long start(int page) {
        return (long) page << shift;
    }

    /** The page that holds the position. */
    int pageAt(long position) {
        return (int) (position >> shift);
    }
}
