package io.penstock.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A folder above one of Penstock's in which other users can put another folder in its place. The rule is that of sshd's
 * StrictModes: such a folder must belong to root or to the user, and others must not write to it. With the sticky bit they
 * may, as they can rename only what is theirs there (unlink(2), EPERM). Folders below one that only the user can search do
 * not matter: {@code ~/.cache} may be anything below a home of mode 700.
 *
 * @param fault a sentence that begins with the path
 * @param mend what its owner or root does about it: {@code chmod +t /scratch}
 */
public record ExposedFolder(Path path, String fault, String mend) {
    private static final int ROOT = 0;
    private static final int STICKY = 01000;
    private static final int WRITABLE_BY_OTHERS = 022;
    private static final int SEARCHED_BY_OTHERS = 011;
    private static final int PERMISSIONS = 07777;

    /**
     * From / down, each once. Both the path as it is written and the one without symbolic links are looked at: a link could be
     * replaced, too.
     *
     * @param folders absolute; they need not exist: Penstock makes those that are missing for its user alone
     * @param user that Penstock runs as
     */
    public static List<ExposedFolder> above(Collection<Path> folders, int user) throws IOException {
        Set<ExposedFolder> exposed = new LinkedHashSet<>();
        for (Path folder : folders) {
            addAbove(folder, user, exposed);
            addAbove(real(folder), user, exposed);
        }
        return List.copyOf(exposed);
    }

    /** @return whether other users can reach the folder, if its own mode lets them */
    private static boolean addAbove(Path folder, int user, Set<ExposedFolder> exposed) throws IOException {
        Path parent = folder.getParent();
        if (parent == null) {
            return true;
        } else if (!addAbove(parent, user, exposed) || !Files.isDirectory(parent)) {
            return false;
        }
        ExposedFolder fault = exposure(parent, user);
        if (fault != null) {
            exposed.add(fault);
            return true;
        }
        return (mode(parent) & SEARCHED_BY_OTHERS) != 0;
    }

    /** Without symbolic links, as far as it exists. */
    private static Path real(Path path) throws IOException {
        Path parent = path.getParent();
        return parent == null || Files.exists(path)
                ? path.toRealPath()
                : real(parent).resolve(path.getFileName());
    }

    private static @Nullable ExposedFolder exposure(Path folder, int user) throws IOException {
        int owner = (int) Files.getAttribute(folder, "unix:uid");
        int mode = mode(folder);
        List<String> mend = new ArrayList<>();
        if (owner != ROOT && owner != user) {
            mend.add("chown root " + folder);
        }
        if ((mode & WRITABLE_BY_OTHERS) != 0 && (mode & STICKY) == 0) {
            mend.add("chmod +t " + folder);
        }
        return mend.isEmpty()
                ? null
                : new ExposedFolder(
                        folder,
                        folder + " belongs to user " + owner + " and has mode " + Integer.toOctalString(mode)
                                + ": other users can put another folder in the place of Penstock's",
                        String.join("; ", mend));
    }

    private static int mode(Path folder) throws IOException {
        return (int) Files.getAttribute(folder, "unix:mode") & PERMISSIONS;
    }
}
