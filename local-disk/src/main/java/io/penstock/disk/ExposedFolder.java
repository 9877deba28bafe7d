package io.penstock.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A folder above one of Penstock's in which other users can replace the next folder of the path, or a symbolic link
 * that they can replace. The rule is that of sshd's StrictModes: the folder must belong to root or to the user, and
 * others must not write to it. With the sticky bit they may: they can rename only their own files (unlink(2), EPERM).
 * Folders below one that only the user can search do not matter: {@code ~/.cache} may have any mode in a 700 home.
 *
 * @param fault a sentence that begins with the path
 * @param mend what its owner or root can do about it: {@code chmod +t /scratch}
 */
public record ExposedFolder(Path path, String fault, String mend) {
    /** The kernel's MAXSYMLINKS. */
    private static final int MOST_LINKS = 40;

    private static final int ROOT = 0;
    private static final int STICKY = 01000;
    private static final int WRITABLE_BY_OTHERS = 022;
    private static final int SEARCHED_BY_OTHERS = 011;
    private static final int PERMISSIONS = 07777;

    /**
     * From the root down, each once. Symbolic links are followed one by one, because each could be replaced too: by
     * anyone who can write to its folder, and by its owner even if that folder has the sticky bit.
     *
     * @param folders absolute paths. They need not exist: Penstock creates missing folders for its user alone
     * @param user that Penstock runs as
     */
    public static List<ExposedFolder> above(Collection<Path> folders, int user) throws IOException {
        Set<ExposedFolder> exposed = new LinkedHashSet<>();
        for (Path folder : folders) {
            follow(folder, user, exposed);
        }
        return List.copyOf(exposed);
    }

    /** As in path_resolution(7): a path with more links leads nowhere. */
    private static void follow(Path folder, int user, Set<ExposedFolder> exposed) throws IOException {
        Deque<Path> names = new ArrayDeque<>();
        folder.forEach(names::addLast);
        Path reached = folder.getRoot(); // without symbolic links
        for (int links = 0; !names.isEmpty() && links <= MOST_LINKS; ) {
            Path next = reached.resolve(names.removeFirst()).normalize();
            boolean isReachedByOthers = addAbove(next, user, exposed);
            if (!Files.isSymbolicLink(next)) {
                reached = next;
                continue;
            }
            int owner = (int) Files.getAttribute(next, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            if (isReachedByOthers && isOther(owner, user) && (mode(reached) & WRITABLE_BY_OTHERS) != 0) {
                exposed.add(new ExposedFolder(
                        next,
                        next + " is a symbolic link of user " + owner + ", who can redirect it to another folder",
                        "chown -h root " + next));
            }
            Path target = Files.readSymbolicLink(next);
            for (int i = target.getNameCount() - 1; i >= 0; i--) {
                names.addFirst(target.getName(i));
            }
            reached = target.isAbsolute() ? target.getRoot() : reached;
            links++;
        }
    }

    /**
     * @param folder without symbolic links above it
     * @return whether other users can reach the folder, if its own mode permits
     */
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

    private static @Nullable ExposedFolder exposure(Path folder, int user) throws IOException {
        int owner = (int) Files.getAttribute(folder, "unix:uid");
        int mode = mode(folder);
        List<String> mend = new ArrayList<>();
        if (isOther(owner, user)) {
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
                                + ": other users can replace Penstock's folder",
                        String.join("; ", mend));
    }

    private static boolean isOther(int owner, int user) {
        return owner != ROOT && owner != user;
    }

    private static int mode(Path folder) throws IOException {
        return (int) Files.getAttribute(folder, "unix:mode") & PERMISSIONS;
    }
}
