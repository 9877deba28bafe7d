package io.penstock.cache;

/** How the bytes of an object are divided into pages. */
enum PageGeometry {
    /** What is kept of objects as a rule. */
    PAGES(20),
    /** The same bytes in small pieces: what is read at random here and there is fetched and kept without its surroundings. */
    SECTORS(16),
    /** A file whose pages hold small objects: see {@link Packs}. */
    PACKS(20);

    /** Bytes in a page; the last page of an object is as long as what is left of it. */
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

    /** Bytes in a page; the last page of an object is as long as what is left of it. */
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
