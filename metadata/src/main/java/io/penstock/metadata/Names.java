package io.penstock.metadata;

import io.penstock.objectstore.KeyOrder;
import org.jspecify.annotations.Nullable;

/** Decides which keys can be shown as names. S3 allows any key of 1 to 1024 bytes of UTF-8; Linux is stricter. */
public final class Names {
    /** NAME_MAX of include/uapi/linux/limits.h: bytes. */
    public static final int MAX_NAME_BYTES = 255;

    /** The longest key, in bytes of UTF-8: "Object key naming guidelines" of the S3 manual. */
    public static final int MAX_KEY_BYTES = 1024;

    private Names() {}

    /**
     * The name of the object that marks the root of a bucket, as no key is empty: {@code .penstock/}. It is not shown,
     * and nothing else can have it.
     */
    private static final String MARKER_OF_ROOT = ".penstock";

    /** The key of the directory's marker object. */
    public static String marker(Directory directory) {
        return directory.prefix().isEmpty() ? MARKER_OF_ROOT + "/" : directory.prefix();
    }

    /**
     * Whether the name is reserved for Penstock, in every directory: if a part of the bucket is mounted, the objects
     * that probe the store are below its root.
     */
    public static boolean isReserved(String name) {
        return name.equals(MARKER_OF_ROOT);
    }

    /** Whether both a path and a key can have this name in the directory. */
    static boolean canBe(Directory directory, String name) {
        return objection(name) == null
                && !isReserved(name)
                && utf8Length(directory.prefix()) + utf8Length(name) <= MAX_KEY_BYTES;
    }

    /** Why no path can reach the key in the directory; null if one can. */
    static @Nullable String objection(Directory directory, String key) {
        int slash = key.indexOf('/', directory.prefix().length());
        return objection(key.substring(directory.prefix().length(), slash < 0 ? key.length() : slash));
    }

    /** Why no path can have this component, in words for the log; null if it can. */
    static @Nullable String objection(String name) {
        if (name.isEmpty()) {
            return "a name in it is empty (two slashes in a row, or one in front)";
        } else if (name.equals(".") || name.equals("..")) {
            return "'" + name + "' is not a name in a path";
        } else if (!KeyOrder.isUnicode(name)) {
            return "a name in it is not UTF-8";
        } else if (name.indexOf('\0') >= 0) {
            return "a name in it contains a NUL character";
        } else if (name.indexOf('/') >= 0) {
            return "the store ignored the delimiter";
        } else if (utf8Length(name) > MAX_NAME_BYTES) {
            return "a name in it is longer than " + MAX_NAME_BYTES + " bytes";
        }
        return null;
    }

    /** Length in bytes of its UTF-8 form. */
    public static int utf8Length(String text) {
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            // Each half of a surrogate pair represents two of its four bytes.
            length += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
        }
        return length;
    }
}
