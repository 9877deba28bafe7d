package io.penstock.it;

import static io.penstock.it.WrittenBucket.sh;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A developer's everyday programs do, print and leave the same on a mount as on a disk. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ProgramsIT {
    private static final int FILES = 20_000;
    private static final int SAFETENSORS = (20 << 20) + 12_345;
    private static final Duration LONG_LIMIT = Duration.ofMinutes(15);

    /** Prints the attributes of each file below a folder. */
    private static final String SHOW = """
        show() {
            (cd "$1" && find . -type f -printf '%P %m %s %T@ %U %G\\n' -o -type l -printf '%P %l\\n' | LC_ALL=C sort)
        }
        """;

    @TempDir
    private static Path scratch;

    private WrittenBucket bucket;

    @BeforeAll
    void mount() throws Exception {
        bucket = new WrittenBucket(scratch);
    }

    @AfterAll
    void mountAgainAndUnmount() throws Exception {
        try (WrittenBucket last = bucket) {
            last.assertSameWithAnEmptyCache();
        }
    }

    private static void assume(String program) {
        assumeTrue(Program.shell(scratch, "type -P \"$1\"", program).exit() == 0, "there is no " + program);
    }

    /** With a backup, in place, and by a rename. A backup that is a link would be a copy here, like all links. */
    @Test
    void editors_save_asOnDisk() throws Exception {
        String script = """
            import os
            def put(name, text, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
                f = os.open(name, flags, 0o644)
                os.write(f, text)
                os.fsync(f)
                os.close(f)
            put('vim', b'old')
            os.chmod('vim', 0o600)
            put('4913', b'', os.O_WRONLY | os.O_CREAT | os.O_EXCL)      # may this folder be written to?
            os.unlink('4913')
            os.rename('vim', 'vim~')
            put('vim', b'saved')
            os.chmod('vim', os.stat('vim~').st_mode & 0o7777)
            os.unlink('vim~')
            put('emacs', b'old')
            os.rename('emacs', 'emacs~')
            put('emacs', b'saved')
            put('code', b'an old and longer text')
            put('code', b'saved')
            for i in range(20):
                put('.#idea', b'saved %d' % i, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                os.replace('.#idea', 'idea')
            for name in sorted(os.listdir('.')):
                print(name, open(name).read(), oct(os.stat(name).st_mode))
            """;
        bucket.assertSameAsOnDisk("editors", "python3 -c \"$1\"; sed -i.bak s/saved/changed/ vim code idea", script);
    }

    @Test
    void vim_saves_asOnDisk() throws Exception {
        assume("vim");
        bucket.assertSameAsOnDisk("vim", """
            seq 1000 > f && chmod 640 f
            edit() { vim -es -u NONE -c "$1" -c '%s/^7$/seven/e' -c 'normal Goend' -c wq f </dev/null; stat -c '%a %s' f; }
            for copy in yes no auto; do edit "set backup backupdir=. backupcopy=$copy"; edit "set nobackup fsync"; done
            ls -A
            """);
    }

    @Test
    void find_newerAndEmptyAndPrune_findsWhatItFindsOnDisk() throws Exception {
        bucket.assertSameAsOnDisk("find", """
            mkdir -p d/e && seq 300 > d/old && touch -d '1 hour ago' d/old
            : > stamp && touch -d '1 minute ago' stamp
            for i in $(seq 30); do echo $i > d/e/$i; done
            echo more >> d/old && : > d/empty
            find . -type f -newer stamp | LC_ALL=C sort
            touch -d '2 minutes ago' d/e/7 && find d -newer stamp -type f | wc -l
            find . -empty -o -size +1k -type f | LC_ALL=C sort
            find . -path ./d/e -prune -o -type f -print | LC_ALL=C sort
            find d/e -type f -mmin +1 -delete -print
            du --apparent-size -b d/old d/e/30 && du -a --apparent-size -b d/e | awk '$2 != "d/e"' | LC_ALL=C sort
            """);
    }

    @Test
    void df_ofTheMount_showsRoomForWhatever() throws Exception {
        String[] shown = sh(bucket.folder("df"), "df -B1 --output=size,avail,target .")
                .lines()
                .skip(1)
                .findFirst()
                .orElseThrow()
                .strip()
                .split(" +", -1);

        assertThat(Long.parseLong(shown[0])).isEqualTo(1L << 50);
        assertThat(Long.parseLong(shown[1])).isEqualTo(1L << 50);
        assertThat(shown[2]).isEqualTo(bucket.mount().path().toString());
        assertThat(sh(bucket.folder("df"), "df --output=itotal,iused,iavail,ipcent . | tail -1")
                        .strip()
                        .split(" +", -1))
                .as("inodes are not limited")
                .containsExactly("0", "0", "0", "-");
    }

    @Test
    @Tag("long")
    void sqlite_withEachJournal_leavesWhatItDoesOnDisk() throws Exception {
        bucket.assertSameAsOnDisk("sqlite", """
            python3 - << 'END'
            import sqlite3
            for journal in 'off', 'delete', 'truncate', 'persist', 'memory':
                with sqlite3.connect(journal + '.db') as base:
                    base.execute('pragma journal_mode = ' + journal)
                    base.execute('create table t (i integer primary key, text)')
                    base.executemany('insert into t values (?, ?)', ((i, 'text %d' % i * 20) for i in range(3000)))
                    base.execute('delete from t where i % 3 = 0')
                    base.commit()
                    print(journal, base.execute('select count(*), sum(length(text)) from t').fetchone())
                    print(base.execute('pragma integrity_check').fetchone())
                base.close()
            END
            rm -- *-journal # what is left of it has random numbers
            """);
    }

    /** While a program saves by a rename, readers see one complete version at any moment, and never none. */
    @Test
    @Tag("long")
    void rename_overAFileThatOthersRead_showsOneOrTheOther() throws Exception {
        assumeFalse("jnr".equals(MountedBucket.BINDING), "libfuse finds the replaced file by its path, which is gone");
        String script = """
            import os, threading
            SIZE, SAVES = 300_000, 60
            def save(number):
                with open('temporary', 'wb') as f:
                    f.write(bytes([number]) * SIZE)
                    f.flush()
                    os.fsync(f.fileno())
                os.replace('temporary', 'file')
            save(0)
            saving, seen, wrong = True, set(), []
            def read():
                while saving:
                    try:
                        with open('file', 'rb') as f:
                            content = f.read()
                        if len(content) != SIZE or len(set(content)) != 1:
                            wrong.append((len(content), set(content)))
                        seen.update(content[:1])
                        assert 'file' in os.listdir('.')
                        assert os.stat('file').st_size == SIZE
                    except Exception as e:
                        wrong.append(e)
            readers = [threading.Thread(target=read) for _ in range(4)]
            for reader in readers:
                reader.start()
            for number in range(1, SAVES):
                save(number)
            saving = False
            for reader in readers:
                reader.join()
            print(wrong[:3], len(seen) > 3)
            """;
        for (String close : List.of("visible", "staged")) {
            Path folder = Files.createDirectory(scratch.resolve("close-" + close));
            try (WrittenBucket saved = new WrittenBucket(folder, "--write-close", close)) {
                assertThat(sh(saved.folder("saved"), "python3 -c \"$1\"", script))
                        .isEqualTo("[] True\n");
            }
        }
    }

    /** At least the size of each file, so that a tree's sum is meaningful. */
    @Test
    void du_ofATree_countsItsFiles() throws Exception {
        Path folder = bucket.folder("du");

        String sum = sh(
                folder, "head -c 3000000 /dev/zero > a; mkdir d; head -c 70000 /dev/zero > d/b; du -sB1 . | cut -f1");

        assertThat(Long.parseLong(sum.strip())).isBetween(3_070_000L, 3_100_000L);
    }

    @Test
    void names_ofAllKinds_areKeptByteByByte() throws Exception {
        String script = """
            import os, unicodedata
            names = ['a' * 255, 'ü' * 127, 'é', unicodedata.normalize('NFD', 'é'), '%41', '%2F', '%', '+', 'a b', ' ',
                     ' a ', 'new\\nline', '\\n', 'tab\\t', 'dot.', '..dots..', '...', '~', '#?&;=', '\\\\', '"\\'', '*',
                     '\\x01', '\\x7f', '\\u202e', '\\U0001f980', '-rf', 'CON', '.hidden', 'a:b', '[x]', '\\ufeffbom']
            for name in names:
                with open(name, 'w') as f:
                    f.write(name)
                os.mkdir('in ' + name[:100])
                os.rename(name, os.path.join('in ' + name[:100], name))
            for folder in sorted(os.listdir('.')):
                for name in os.listdir(folder):
                    assert open(os.path.join(folder, name)).read() == name
                    print(ascii(folder), ascii(name))
            for wrong in 'a' * 256, 'ü' * 128:
                try:
                    open(wrong, 'w')
                except OSError as e:
                    print(e.errno)
            """;
        bucket.assertSameAsOnDisk("names", "python3 -c \"$1\"", script);
    }

    /** The temporary file gets its final size first, is written in order, and is renamed before it is closed. */
    @Test
    void file_savedAsSafetensorsSaves_isUploadedOnce() throws Exception {
        String script = """
            import os
            SIZE = 20 * 2**20 + 12345
            def save(name, tmp, seed):
                f = os.open(tmp, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                os.ftruncate(f, SIZE)
                for at in range(0, SIZE, 4 * 2**20):
                    os.write(f, bytes([seed + at % 251]) * min(4 * 2**20, SIZE - at))
                os.rename(tmp, name)
                os.close(f)
            save('model.safetensors', '.tmpA1b2C3', 1)
            save('model.safetensors', '.tmpD4e5F6', 2)
            """;
        try (S3Front front = new S3Front(S3Server.shared());
                WrittenBucket fronted =
                        new WrittenBucket(front.fronted(), Files.createDirectory(scratch.resolve("fronted")))) {
            fronted.folder("saved"); // sends the mount's first requests
            front.drainRequests();
            fronted.assertSameAsOnDisk("saved", "python3 -c \"$1\" && ls -A", script);

            List<S3Front.Request> requests = front.drainRequests();
            assertThat(requests.stream().mapToLong(S3Front.Request::length).sum())
                    .as("%s", requests)
                    .isBetween(2L * SAFETENSORS, 2L * SAFETENSORS + 100_000);
            assertThat(requests)
                    .noneMatch(request -> request.target().contains("/.tmp")
                            && List.of("PUT", "POST", "DELETE").contains(request.method()))
                    .noneMatch(request -> request.target().contains("/model")
                            && request.method().equals("PUT")
                            && request.length() == 0); // like copies
        }
    }

    @Test
    @Tag("long")
    void make_ofACProject_buildsAndBuildsNothingTwice() throws Exception {
        assume("gcc");
        assume("make");
        String said = sh(bucket.folder("make"), """
            mkdir src
            for i in $(seq 20); do echo "int f$i(void) { return $i; }" > src/f$i.c; done
            { for i in $(seq 20); do echo "int f$i(void);"; done; echo '#include <stdio.h>'
              echo 'int main(void) { printf("%d\\n", f1() + f20()); return 0; }'; } > src/main.c
            cat > Makefile << 'END'
            OBJECTS := $(patsubst src/%.c,build/%.o,$(wildcard src/*.c))
            program: build/libf.a
            	$(CC) -o $@ build/main.o -Lbuild -lf
            build/libf.a: $(OBJECTS)
            	$(AR) rcs $@ $^
            build/%.o: src/%.c | build
            	$(CC) -g -MMD -c -o $@ $<
            build:
            	mkdir build
            -include $(OBJECTS:.o=.d)
            END
            make -sj2 && ./program && make -q && echo nothing
            sed -i 's/return 20/return 120/' src/f20.c && ! make -q && make -sj2 && ./program && make -q && echo nothing
            """);
        assertThat(said).isEqualTo("21\nnothing\n121\nnothing\n");
        bucket.assertStored("make");
    }

    @Test
    @Tag("long")
    void venvAndPip_installIntoAMount_runsFromIt() throws Exception {
        Path wheels = scratch.resolve("wheels");
        // On the local disk first: failures there are caused by the network or the machine.
        Program.Result got = result(scratch, """
            python3 -m venv local
            local/bin/pip download -q --disable-pip-version-check -d "$1" requests numpy==2.1.3
            """, wheels);
        assumeTrue(got.exit() == 0, got.out());
        Path folder = bucket.folder("venv");

        run(folder, """
            python3 -m venv env
            env/bin/pip install -q --no-cache-dir --disable-pip-version-check --no-index --find-links "$1" requests numpy
            """, wheels);
        assertThat(sh(folder, """
            env/bin/python -c 'import numpy, requests; print(numpy.arange(10).sum(), numpy.__file__)'
            env/bin/pip --disable-pip-version-check check
            env/bin/pip uninstall -q -y requests
            env/bin/python -c 'import requests' 2>&1 | tail -1 || true
            """)).isEqualTo("""
                45 %s/env/lib/python%s/site-packages/numpy/__init__.py
                No broken requirements found.
                ModuleNotFoundError: No module named 'requests'
                """.formatted(
                        folder,
                        sh(folder, "python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'")
                                .strip()));
    }

    @Test
    @Tag("long")
    void npm_installOfASmallTree_runsFromIt() throws Exception {
        assume("npm");
        Path folder = bucket.folder("npm");
        Path cache = scratch.resolve("npm-cache");
        String install = """
            npm init -y > /dev/null
            npm install --no-audit --no-fund --prefer-offline --cache "$1" express@4.21.2
            """;
        Program.Result got = result(bucket.onDisk("npm"), install, cache); // as above
        assumeTrue(got.exit() == 0, got.out());

        run(folder, install, cache);
        assertThat(sh(folder, """
            node -e 'console.log(typeof require("express")().listen)'
            npm ls --depth=0 | tail -n +2
            rm -r node_modules && npm ci --no-audit --no-fund --silent --cache "$1" --prefer-offline
            node -e 'console.log(require("express/package.json").version)'
            """, cache).strip()).startsWith("function\n").endsWith("4.21.2");
        bucket.remountWithAnEmptyCache();
        assertThat(sh(
                        folder,
                        "node -e 'console.log(require(\"express/package.json\").version)' && ls -A node_modules/.bin"))
                .startsWith("4.21.2\n")
                .contains("mime");
    }

    @Test
    @Tag("long")
    void tar_ofManySmallFilesInAndOut_keepsAllAttributes() throws Exception {
        String make = """
            import os
            for i in range(%d):
                folder = 'tree/%%02d' %% (i %% 40)
                os.makedirs(folder, exist_ok=True)
                name = folder + '/%%05d' %% i
                with open(name, 'w') as f:
                    f.write('%%d' %% i * (i %% 300))
                os.chmod(name, 0o400 | i %% 0o400)
                os.utime(name, ns=(10**18 + i, 10**18 + i * 1000003))
            os.symlink('00/00000', 'tree/link')
            """.formatted(FILES);
        Path disk = bucket.onDisk("many");
        sh(disk, "python3 -c \"$1\" && tar --format=posix --sort=name -cf ../many.tar tree", make);
        Path folder = bucket.folder("many");
        Path tar = disk.resolveSibling("many.tar");
        run(
                folder,
                "tar -xpf \"$1\" && tar --format=posix --sort=name -cf \"$2\" tree",
                tar,
                scratch.resolve("out.tar"));

        sh(disk, SHOW + "show tree > ../expected && wc -l < ../expected | grep -qx $1", FILES + 1);
        Path expected = disk.resolveSibling("expected");
        assertShows(folder, "tree", expected);
        assertThat(run(
                        scratch,
                        "mkdir out && tar -xpf out.tar -C out && diff -r out/tree \"$1\" | head",
                        disk.resolve("tree")))
                .isEmpty();
        assertShows(scratch, "out/tree", expected);
        bucket.remountWithAnEmptyCache();
        assertShows(folder, "tree", expected);
        assertThat(run(folder, "diff -r tree/07 \"$1\"/07 | head", disk.resolve("tree")))
                .isEmpty();
    }

    /** Reports only some lines: all 20,000 in one message are too much for the reports. */
    private static void assertShows(Path folder, String tree, Path expected) {
        assertThat(run(folder, SHOW + "show \"$1\" | diff - \"$2\" | head", Path.of(tree), expected))
                .isEmpty();
    }

    private static String run(Path folder, String script, Path... arguments) {
        return result(folder, script, arguments).orThrow();
    }

    /** For scripts that may take long. */
    private static Program.Result result(Path folder, String script, Path... arguments) {
        List<String> command = new ArrayList<>(List.of("bash", "-c", "set -euo pipefail\n" + script, "bash"));
        for (Path argument : arguments) {
            command.add(argument.toString());
        }
        return Program.run(folder, LONG_LIMIT, command);
    }
}
