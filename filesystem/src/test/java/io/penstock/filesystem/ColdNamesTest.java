package io.penstock.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.filesystem.kernel.KernelCache;
import io.penstock.filesystem.kernel.OpenFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A walk over more names than the kernel may cache: it is asked to forget some. */
@Timeout(60)
class ColdNamesTest extends OverOneCache {
    private static final int DIRECTORIES = 10;
    private static final int FILES = 12_000;

    private final ForgettingKernel kernel = new ForgettingKernel();
    private Mounted m;
    private int mostInUse;

    /** Forgets on demand, except a directory whose entries it caches. */
    private final class ForgettingKernel implements KernelCache {
        /** Lookups of each inode. */
        final Map<Long, Integer> known = new HashMap<>();

        /** The parents of the inodes that {@link #lookup} looked up. */
        final Map<Long, Long> parents = new HashMap<>();

        boolean forgetsDirectories;

        final List<Long> forgotten = new ArrayList<>();

        @Override
        public void dropInode(long inode, boolean pages) {}

        @Override
        public void dropName(long parent, String name) {}

        @Override
        public boolean forgetsDirectories() {
            return forgetsDirectories;
        }

        @Override
        public void forget(long inode, long parent, String name) {
            if (parents.containsValue(inode)) {
                return;
            }
            parents.remove(inode);
            Integer lookups = known.remove(inode);
            if (lookups != null) { // otherwise an earlier notice made it forget this
                forgotten.add(inode);
                m.fs.forget(inode, lookups);
            }
        }

        long lookup(long parent, String name) throws Exception {
            long inode = m.fs.lookup(parent, name).inode();
            known.merge(inode, 1, Integer::sum);
            parents.put(inode, parent);
            mostInUse = Math.max(mostInUse, m.fs.inodesInUse());
            return inode;
        }
    }

    @BeforeEach
    void mount() {
        m = new Mounted(cache);
        for (int i = 0; i < FILES; i++) {
            m.bucket.put("d%d/%05d".formatted(i % DIRECTORIES, i), "");
        }
        m.fs.addListener(kernel);
    }

    @AfterEach
    void unmount() {
        kernel.known.forEach(m.fs::forget);
        m.close();
    }

    private void walk() throws Exception {
        for (int i = 0; i < DIRECTORIES; i++) {
            OpenFile directory = m.fs.opendir(m.lookup("d" + i).inode());
            long[] offset = {0};
            long before;
            do {
                before = offset[0];
                m.fs.readdirplus(directory.handle(), before, (name, attributes, next) -> {
                    if (!name.startsWith(".")) {
                        kernel.known.merge(attributes.inode(), 1, Integer::sum);
                    }
                    offset[0] = next;
                    mostInUse = Math.max(mostInUse, m.fs.inodesInUse());
                    return true;
                });
            } while (offset[0] > before);
            m.fs.releasedir(directory.handle());
        }
    }

    @Test
    void readdirplus_moreNamesThanTheBound_forgetsTheOldest() throws Exception {
        walk();

        assertThat(mostInUse).isLessThan(Mounted.MOST_NAMES + 2_100);
        assertThat(kernel.forgotten).hasSizeGreaterThan(FILES - Mounted.MOST_NAMES - 2_100);
        assertThat(kernel.forgotten.subList(0, 100)).isSorted();
    }

    @Test
    void readdirplus_again_findsWhatWasForgotten() throws Exception {
        walk();
        walk();

        assertThat(mostInUse).isLessThan(Mounted.MOST_NAMES + 2_100);
        assertThat(m.ls(m.lookup("d0").inode(), 100)).hasSize(FILES / DIRECTORIES);
    }

    @Test
    void lookup_moreDirectoriesThanTheBound_forgetsThemWithContent() throws Exception {
        kernel.forgetsDirectories = true;
        int directories = 2_000;
        for (int i = 0; i < directories; i++) {
            for (int j = 0; j < 3; j++) {
                m.bucket.put("samples/%04d/n/%d".formatted(i, j), "");
            }
        }

        long samples = kernel.lookup(FileSystem.ROOT, "samples");
        for (int i = 0; i < directories; i++) {
            long sample = kernel.lookup(samples, "%04d".formatted(i));
            long inner = kernel.lookup(sample, "n");
            for (int j = 0; j < 3; j++) {
                kernel.lookup(inner, "" + j);
            }
        }

        assertThat(mostInUse).isLessThan(Mounted.MOST_NAMES + 2_100);
    }

    @Test
    void readdirplus_ofWhatIsOpen_leavesThatAlone() throws Exception {
        OpenFile open = m.open("d0/00000");
        long inode = m.fs.inodeOf(open.handle());

        walk();
        walk();

        assertThat(kernel.forgotten)
                .isNotEmpty()
                .doesNotContain(inode, m.lookup("d0").inode());
        m.fs.release(open.handle());
    }
}
