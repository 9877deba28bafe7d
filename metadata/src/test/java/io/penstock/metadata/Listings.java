package io.penstock.metadata;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import java.util.ArrayList;
import java.util.List;

/** Reads values from listings, for tests. */
final class Listings {
    private Listings() {}

    static FileEntry file(ObjectVersion version) {
        return new FileEntry(new StoredObject(version, "STANDARD"));
    }

    static List<Listing.Entry> entries(Listing listing) throws Exception {
        List<Listing.Entry> entries = new ArrayList<>();
        for (int i = 0; listing.await(i); i++) {
            Listing.Entry entry = listing.get(i);
            if (entry != null) {
                entries.add(entry);
            }
        }
        return entries;
    }

    static List<String> names(Listing listing) throws Exception {
        return entries(listing).stream().map(Listing.Entry::name).toList();
    }
}
