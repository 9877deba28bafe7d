package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Repositories on a mount pass git's own checks after each of its commands, and on the next mount. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class GitIT {
    /** Functions for all scripts, and an environment that does not depend on the machine's. */
    private static final String BEGIN = """
        export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
        export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
        export GIT_OPTIONAL_LOCKS=0 GIT_TEMPLATE_DIR= GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=a@b.c
        check() {
            for repository; do
                git -C "$repository" fsck --full --strict --no-dangling 2>&1
                git -C "$repository" status --porcelain
            done
        }
        """;

    @TempDir
    private static Path scratch;

    private WrittenBucket bucket;
    private Path origins;

    @BeforeAll
    void mount() throws Exception {
        bucket = new WrittenBucket(scratch);
        origins = Files.createDirectory(scratch.resolve("origins"));
        git(origins, """
            git init -q -b main library && (cd library && seq 500 > l && git add . && git commit -qm library)
            git init -q -b main origin && cd origin
            for i in 1 2 3; do mkdir -p d$i && seq 2000 > d$i/f && git add . && git commit -qm c$i; done
            """);
    }

    @AfterAll
    void mountAgainAndUnmount() throws Exception {
        try (WrittenBucket last = bucket) {
            last.assertSameWithAnEmptyCache();
        }
    }

    private static String git(Path folder, String script, Object... arguments) {
        return WrittenBucket.sh(folder, BEGIN + script, arguments);
    }

    /** Within a mount git links the objects of a clone, and compares both names of each. */
    @Test
    void clone_intoAMountAndWithinIt_passesFsckOnTheNextMountToo() throws Exception {
        assumeFalse(MountedBucket.BINDING.equals("jnr"), "libfuse 2 chooses the inodes' numbers");
        Path folder = bucket.folder("clones");
        String check =
                "check clone default local copied; git -C copied log --format=%s; git -C copied rev-list --all | wc -l";

        assertThat(git(folder, """
            git clone -q "$1/origin" clone
            (cd clone && echo 4 > d1/4 && git add . && git commit -qm c4)
            git clone -q clone default && git clone -q --local clone local && git clone -q --no-hardlinks clone copied
            (cd local && echo 5 >> d1/4 && git commit -qam c5 && git push -q origin HEAD:pushed)
            """ + check, origins)).isEqualTo("c4\nc3\nc2\nc1\n4\n");
        bucket.assertStored("clones");
        bucket.remountWithAnEmptyCache();
        assertThat(git(folder, check)).isEqualTo("c4\nc3\nc2\nc1\n4\n");
        assertThat(git(folder, "git -C clone log -1 --format=%s pushed")).isEqualTo("c5\n");
    }

    @Test
    @Tag("long")
    void life_fromCloneToGc_passesFsckOnTheNextMountToo() throws Exception {
        Path folder = bucket.folder("life");
        String check = """
            check clone clone/library whole whole/library
            git -C whole log --format=%s
            grep -cx more whole/library/l
            grep -c . clone/d1/f && grep -E 'seven|last' clone/d1/f
            """;
        String expected = """
            updated
            submodule
            removed
            merged
            main
            topic
            c3
            c2
            c1
            1
            2000
            seven
            last
            """;

        assertThat(git(folder, """
            git clone -q --no-local "$1/origin" clone && cd clone
            git checkout -q -b topic && sed -i 's/^7$/seven/' d1/f && git commit -qam topic
            git checkout -q main && sed -i 's/^1999$/last/' d1/f && git commit -qam main
            git merge -q -m merged topic > /dev/null
            echo stashed > d2/f && git stash -q && git diff --quiet && git stash pop -q && git checkout -q d2/f
            git checkout -q -b other HEAD~1 && git rm -q d3/f && git commit -qm removed && git rebase -q main
            git worktree add -q ../tree topic && (cd ../tree && echo 8 > eight && git add . && git commit -qm eight)
            check ../tree && git worktree remove ../tree && git worktree prune && git branch -qD topic
            git push -q origin other
            git checkout -q main && git merge -q --ff-only other && git branch -qd other
            git submodule add -q "$1/library" library && git commit -qm submodule
            (cd "$1/library" && echo more >> l && git commit -qam more)
            git submodule update -q --remote 2> /dev/null && git commit -qam updated
            check . && git repack -adq && check . && git gc -q --prune=now && check .
            cd .. && git clone -q --recurse-submodules clone whole
            """ + check, origins)).isEqualTo(expected);
        bucket.assertStored("life");
        bucket.remountWithAnEmptyCache();
        assertThat(git(folder, check)).isEqualTo(expected);
    }
}
