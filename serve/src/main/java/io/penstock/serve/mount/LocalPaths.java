package io.penstock.serve.mount;

import io.penstock.disk.ExposedFolder;
import io.penstock.fuse.MountTable;
import io.penstock.settings.Configuration;
import io.penstock.settings.Host;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The paths of a mount's own files, which must not be on a mount. */
final class LocalPaths {
    private static final Logger log = LoggerFactory.getLogger(LocalPaths.class);

    private LocalPaths() {}

    /** The folders above the mount's own that others could change; none if that is not known. */
    static List<ExposedFolder> exposed(Configuration configuration) {
        List<Path> folders = MountPlan.folders(configuration);
        try {
            return ExposedFolder.above(folders, Host.current().uid());
        } catch (IOException e) {
            log.debug("The folders above {} are not checked", folders, e);
            return List.of();
        }
    }

    /**
     * Why a mount cannot have its files here, to follow the path in a message; null if it can. Files inside its mount
     * point would be hidden, or read through the mount that they serve.
     */
    static @Nullable String objection(Path path, Path mountPoint) {
        Path real = resolveLinks(path);
        if (path.startsWith(mountPoint) || real.startsWith(resolveLinks(mountPoint))) {
            return " is inside the mount point " + mountPoint + "; choose a path outside it";
        }
        MountTable.Entry mount = mountOf(real);
        return mount != null && mount.isPenstock()
                ? " is on the mount " + mount.mountPoint() + " of " + mount.source() + "; choose a path on a local disk"
                : null;
    }

    private static MountTable.@Nullable Entry mountOf(Path path) {
        try {
            return MountTable.read().of(path).orElse(null);
        } catch (IOException e) {
            return null; // Preflight reports it.
        }
    }

    /** The path without symbolic links, as far as it exists. */
    static Path resolveLinks(Path path) {
        for (Path there = path; there != null; there = there.getParent()) {
            try {
                return there.toRealPath().resolve(there.relativize(path)).normalize();
            } catch (IOException e) {
                // It is missing, or is below a dead mount: its parent may be resolvable.
            }
        }
        return path;
    }
}
