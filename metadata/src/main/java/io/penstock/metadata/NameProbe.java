package io.penstock.metadata;

import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Asks the store what one name is, within one round trip.
 *
 * <p>On ordinary buckets one listing page with the name as its prefix says it all: in key order {@code name} itself
 * comes first, then what has a character below the slash behind it ({@code name-1}, {@code name.txt}), then
 * {@code name/} if there is such a directory. Only if that middle part fills the page, a second request is needed.
 * Directory buckets list nothing but whole directories, so that they are asked for file and directory at once.
 */
final class NameProbe {
    /** How the names of directory buckets (S3 Express One Zone) end: "Directory bucket naming rules", S3 manual. */
    private static final String DIRECTORY_BUCKET_SUFFIX = "--x-s3";

    private final ObjectStore store;
    private final HiddenKeys hidden;
    private final ExecutorService executor;

    NameProbe(ObjectStore store, HiddenKeys hidden, ExecutorService executor) {
        this.store = store;
        this.hidden = hidden;
        this.executor = executor;
    }

    Answer ask(Directory parent, String name) throws ObjectStoreException, InterruptedException {
        String key = parent.key(name);
        Directory directory = new Directory(key + "/");
        StoredObject file;
        boolean isDirectory;
        if (store.bucket().endsWith(DIRECTORY_BUCKET_SUFFIX)) {
            CompletableFuture<Boolean> below = Calls.start(executor, () -> exists(directory));
            file = head(key);
            isDirectory = Calls.await(below);
        } else {
            ListPage page = firstPage(ListRequest.of(key, "/"));
            file = find(page, key);
            isDirectory =
                    page.commonPrefixes().contains(directory.prefix()) || (!decides(page, key) && exists(directory));
        }
        if (!isDirectory) {
            return file == null ? Absent.ABSENT : new FileEntry(file);
        }
        if (file != null) {
            hidden.hide(parent, key, HiddenKeys.SHADOWED);
        }
        return directory;
    }

    /** The first page that holds anything: the store may send empty ones before it. */
    private ListPage firstPage(ListRequest first) throws ObjectStoreException, InterruptedException {
        ListRequest request = first;
        ListPage page = store.list(request);
        while (page.nextToken() != null && isEmpty(page)) {
            request = request.next(page.nextToken());
            page = store.list(request);
        }
        return page;
    }

    private boolean exists(Directory directory) throws ObjectStoreException, InterruptedException {
        return !isEmpty(firstPage(new ListRequest(directory.prefix(), "", null, null, 1)));
    }

    private @Nullable StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        try {
            return store.head(key);
        } catch (ObjectStoreException.NotFound e) {
            return null;
        }
    }

    private static boolean isEmpty(ListPage page) {
        return page.objects().isEmpty() && page.commonPrefixes().isEmpty();
    }

    private static @Nullable StoredObject find(ListPage page, String key) {
        for (StoredObject object : page.objects()) {
            if (object.version().key().equals(key)) {
                return object;
            }
        }
        return null;
    }

    /** Whether {@code key/} would be on the page if there were any: the page ends the listing or goes past it. */
    private static boolean decides(ListPage page, String key) {
        return page.nextToken() == null
                || page.objects().stream()
                        .anyMatch(object -> isPast(object.version().key(), key))
                || page.commonPrefixes().stream().anyMatch(prefix -> isPast(prefix, key));
    }

    private static boolean isPast(String other, String key) {
        return other.length() > key.length() && other.charAt(key.length()) > '/';
    }
}
