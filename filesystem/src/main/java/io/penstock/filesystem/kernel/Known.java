package io.penstock.filesystem.kernel;

import io.penstock.filesystem.kernel.KernelContent.Version;
import io.penstock.metadata.KernelState;
import org.jspecify.annotations.Nullable;

/** What the kernel has of one inode; null means nothing. {@link KernelView} draws the transitions. */
sealed interface Known extends KernelState {
    /** The number of handles that use the inode's pages, or its cache file. */
    default int opens() {
        return 0;
    }

    boolean isOf(KernelContent other);

    static boolean isOpen(@Nullable Known state) {
        return state != null && state.opens() > 0;
    }

    /** A version's attributes, in few bytes: there is one of these for each name that the kernel knows. */
    record Shown(long fingerprint) implements Known {
        static final Shown DIRECTORY = new Shown(0);

        /** The attributes of some version, by a former process. */
        static final Shown INHERITED = new Shown(1);

        @Override
        public boolean isOf(KernelContent other) {
            return other instanceof Version version && fingerprint == version.fingerprint();
        }

        @Override
        public @Nullable KernelState forgotten() {
            return null;
        }
    }

    /**
     * Attributes and pages, or a listing: the kernel keeps these longer than a binding by paths does.
     *
     * @param settled whether the pages of other contents are certain to be gone
     */
    record Cached(KernelContent content, int opens, boolean settled) implements Known {
        @Override
        public boolean isOf(KernelContent other) {
            return content.equals(other);
        }
    }

    /**
     * @param content of the file, under its current name
     * @param opens above 0
     */
    record PassedThrough(BackingFile file, Version content, int opens) implements Known {
        PassedThrough opened(int more) {
            return new PassedThrough(file, content, opens + more);
        }

        @Override
        public boolean isOf(KernelContent other) {
            return content.equals(other);
        }
    }

    /** The state once attributes have been shown and no pages are cached. */
    static Known shown(KernelContent content) {
        return content instanceof Version version ? new Shown(version.fingerprint()) : new Cached(content, 0, false);
    }

    /** With one more handle that caches this content. */
    static Cached cached(@Nullable Known before, KernelContent content) {
        return before instanceof Cached(KernelContent known, int opens, boolean settled) && known.equals(content)
                ? new Cached(content, opens + 1, settled)
                : new Cached(content, 1, false);
    }
}
