package io.penstock.metadata;

import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.StoredObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The entries of one directory by index and by name, built from listing pages in any order. An entry never changes its
 * index. The first entries may be dropped: their names are then unknown, like those not listed yet. (A listing without
 * order may return a dropped name again.) Not thread-safe: {@link Listing} guards it.
 */
final class Entries {
    private final Directory directory;
    private final HiddenKeys hidden;
    /** From index {@link #dropped} on. */
    private final List<Listing.@Nullable Entry> byIndex = new ArrayList<>();

    private final Map<String, Integer> indexes = new HashMap<>();
    /** The number of dropped entries. */
    private int dropped;
    /** Names whose entry was found to be wrong and has not been corrected yet. */
    private final Set<String> doubted = new HashSet<>();
    /** Names whose entry shows a change made here, while the store may have other keys of the name. */
    private final Set<String> forgotten = new HashSet<>();
    /** Objects of the last page whose names may still turn out to be directories. */
    private List<Undecided> undecided = new ArrayList<>();
    /**
     * The number of entries that were replaced or removed, or added after the last page, when readers considered the
     * listing complete.
     */
    private int changes;
    /** Whether all pages have arrived. */
    private boolean complete;
    /** Whether the directory has a marker object. */
    private boolean marked;

    private record Undecided(StoredObject object, long asOf) {
        String key() {
            return object.version().key();
        }
    }

    Entries(Directory directory, HiddenKeys hidden) {
        this.directory = directory;
        this.hidden = hidden;
    }

    Directory directory() {
        return directory;
    }

    /** One above the last index, dropped entries included. */
    int size() {
        return dropped + byIndex.size();
    }

    int held() {
        return byIndex.size();
    }

    boolean hasDropped(int index) {
        return index < dropped;
    }

    /** Whether these are all entries of the directory. */
    boolean isWhole() {
        return complete && dropped == 0;
    }

    boolean isMarked() {
        return marked;
    }

    /** Null if the entry was removed or dropped. */
    Listing.@Nullable Entry get(int index) {
        return hasDropped(index) ? null : byIndex.get(index - dropped);
    }

    /** The index of the entry with this name; -1 if there is none, or it was dropped. */
    int indexOf(String name) {
        return indexes.getOrDefault(name, -1);
    }

    Listing.@Nullable Entry get(String name) {
        Integer index = indexes.get(name);
        return index == null ? null : get(index);
    }

    /** Drops all entries except the last {@code kept}. */
    void drop(int kept) {
        List<Listing.@Nullable Entry> first = byIndex.subList(0, byIndex.size() - kept);
        dropped += first.size();
        first.clear();
        indexes.values().removeIf(this::hasDropped);
    }

    int changes() {
        return changes;
    }

    /** Whether the entry, or its absence, is a valid answer about the name. */
    boolean isAnswer(String name) {
        return !doubted.contains(name) && !forgotten.contains(name);
    }

    boolean areDoubted() {
        return !doubted.isEmpty();
    }

    void doubt(String name) {
        doubted.add(name);
    }

    void forget(String name) {
        forgotten.add(name);
    }

    /** Applies an answer about one name, unless the known entry comes from a later request. */
    void correct(String name, Answer answer, long asOf) {
        Listing.Entry known = get(name);
        if (known != null && asOf - known.asOf() < 0) {
            return;
        }
        doubted.remove(name);
        forgotten.remove(name);
        String key = directory.key(name);
        boolean isNext = undecided.removeIf(object -> object.key().equals(key) && asOf - object.asOf() >= 0);
        Integer index = indexes.get(name);
        switch (answer) {
            case Node node -> {
                // A missing entry may have been dropped; a reader that has seen it must not see it again.
                if (index != null || isNext || dropped == 0) {
                    put(name, node, asOf);
                }
            }
            case Absent _ -> {
                if (index != null) {
                    byIndex.set(index - dropped, null);
                    changes++;
                }
            }
        }
    }

    /**
     * Adds a page. {@code a/} hides {@code a} and comes after it, but also after all of {@code a-1}, {@code a.txt} and
     * the like. So an object near the page's end is held back until the next page if {@code a/} may be on that page.
     * (In a listing without order {@code a/} may come even later: then it replaces the object.)
     */
    void append(ListPage page, long asOf) {
        for (String prefix : page.commonPrefixes()) {
            addDirectory(prefix, asOf);
        }
        List<Undecided> candidates = undecided;
        page.objects().forEach(object -> candidates.add(new Undecided(object, asOf)));
        undecided = new ArrayList<>();
        for (Undecided candidate : candidates) {
            if (page.nextToken() != null && mayBeShadowedLater(candidate.key(), page)) {
                undecided.add(candidate);
            } else {
                addFile(candidate.object(), candidate.asOf());
            }
        }
    }

    /** All pages and additions have arrived: a reader at the end has seen all entries. */
    void complete() {
        complete = true;
    }

    private @Nullable Node node(String name) {
        Listing.Entry entry = get(name);
        return entry == null ? null : entry.node();
    }

    private void addDirectory(String prefix, long asOf) {
        String name = prefix.substring(directory.prefix().length(), prefix.length() - 1);
        if (Names.isReserved(name)) {
            marked |= directory.prefix().isEmpty(); // or the store's probe: the marker is requested in vain
            return;
        }
        String objection = Names.objection(name);
        if (objection != null) {
            hidden.hide(directory, prefix, objection);
            return;
        }
        if (node(name) instanceof FileEntry) {
            hidden.hide(directory, directory.key(name), HiddenKeys.SHADOWED);
        }
        put(name, new Directory(prefix), asOf);
    }

    private void addFile(StoredObject object, long asOf) {
        String key = object.version().key();
        if (key.equals(directory.prefix())) {
            marked = true;
            if (object.version().size() > 0) {
                hidden.hide(directory, key, HiddenKeys.MARKER_WITH_CONTENT);
            }
            return;
        }
        String name = key.substring(directory.prefix().length());
        if (Names.isReserved(name)) {
            return;
        }
        String objection = Names.objection(name);
        if (objection != null) {
            hidden.hide(directory, key, objection);
        } else if (node(name) instanceof Directory) {
            hidden.hide(directory, key, HiddenKeys.SHADOWED);
        } else {
            put(name, new FileEntry(object), asOf);
        }
    }

    private void put(String name, Node node, long asOf) {
        Listing.Entry entry = new Listing.Entry(name, node, asOf);
        Integer index = indexes.putIfAbsent(name, size());
        if (index == null) {
            byIndex.add(entry);
            changes += complete ? 1 : 0;
        } else {
            Listing.Entry former = byIndex.set(index - dropped, entry);
            changes += former != null && former.node().equals(node) ? 0 : 1;
        }
    }

    /** Whether {@code key/} may come on a later page, because this one ends between {@code key} and {@code key/}. */
    private static boolean mayBeShadowedLater(String key, ListPage page) {
        return (!page.objects().isEmpty()
                        && isBeforeSlash(page.objects().getLast().version().key(), key))
                || (!page.commonPrefixes().isEmpty()
                        && isBeforeSlash(page.commonPrefixes().getLast(), key));
    }

    private static boolean isBeforeSlash(String last, String key) {
        return last.startsWith(key) && (last.length() == key.length() || last.charAt(key.length()) < '/');
    }
}
