package io.penstock.metadata;

import io.penstock.listing.KeyCursor;
import io.penstock.listing.KeyTable;
import java.util.function.Predicate;

/** Reports the difference between a {@link KeyTable} and the one before it. */
final class TableDifference {
    private final FlatTree former;
    private final FlatTree current;
    private final Predicate<String> isReported;
    private final NameListener listener;

    private TableDifference(KeyTable before, KeyTable after, Predicate<String> isReported, NameListener listener) {
        this.former = new FlatTree(before);
        this.current = new FlatTree(after);
        this.isReported = isReported;
        this.listener = listener;
    }

    /**
     * Reports names that refer to something else, and directories that have appeared or vanished.
     *
     * @param root the prefix of all keys
     * @param isReported keys whose change is reported
     */
    static void report(
            KeyTable before, KeyTable after, Directory root, Predicate<String> isReported, NameListener listener) {
        TableDifference difference = new TableDifference(before, after, isReported, listener);
        KeyCursor old = before.cursor();
        KeyCursor now = after.cursor();
        old.next();
        now.next();
        while (old.isAtKey() || now.isAtKey()) {
            int order = !old.isAtKey() ? 1 : !now.isAtKey() ? -1 : old.compareKey(now);
            if (order != 0 || !old.isSameVersion(now)) {
                difference.changed(order < 0 ? old.key() : now.key(), root);
            }
            if (order <= 0) {
                old.next();
            }
            if (order >= 0) {
                now.next();
            }
        }
    }

    /** Reports the name, and parent directories that have appeared or vanished. */
    private void changed(String key, Directory root) {
        String path = key;
        while (path.length() > root.prefix().length()) {
            String name = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
            int slash = name.lastIndexOf('/') + 1;
            Directory parent = new Directory(name.substring(0, slash));
            Answer answer = current.lookup(parent, name.substring(slash)).answer();
            if (answer.equals(former.lookup(parent, name.substring(slash)).answer())) {
                return;
            }
            if (isReported.test(name) && Names.canBe(parent, name.substring(slash))) {
                listener.answered(parent, name.substring(slash), answer);
            }
            path = parent.prefix();
        }
    }
}
