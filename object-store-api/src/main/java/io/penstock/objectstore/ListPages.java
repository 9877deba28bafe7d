package io.penstock.objectstore;

import org.jspecify.annotations.Nullable;

/** The pages of one listing, each requested on demand. One caller at a time. */
public final class ListPages {
    private final Source source;
    private final PageProgress progress;
    private @Nullable ListRequest next;

    /** Makes the request for one page. */
    @FunctionalInterface
    public interface Source {
        ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException;
    }

    /** @param first the request for the first page */
    public ListPages(Source source, ListRequest first) {
        this.source = source;
        this.progress = PageProgress.of(first);
        this.next = first;
    }

    /** The next page; null after the last. */
    public @Nullable ListPage next() throws ObjectStoreException, InterruptedException {
        ListRequest request = next;
        if (request == null) {
            return null;
        }
        ListPage page = source.list(request);
        progress.came(page);
        next = page.nextToken() == null ? null : request.next(page.nextToken());
        return page;
    }
}
