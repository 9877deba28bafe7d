package io.penstock.serve.mount;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Inode.Place;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A job that visits the files that a user names. */
abstract class FileJob extends Job implements FileSelection.Visitor {
    private static final Logger log = LoggerFactory.getLogger(FileJob.class);

    /** Problems of files that are not fetched. */
    static final String CHANGED = "changed in the bucket since it was listed; warm it again";

    static final String GONE = "no longer in the bucket";

    final MountedModules modules;
    final FileSelection files;

    /** Bytes done so far. */
    final LongAdder bytes = new LongAdder();

    FileJob(String command, MountedModules modules, FileSelection files) {
        super(command, files.paths());
        this.modules = modules;
        this.files = files;
    }

    @Override
    void work() throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        files.visit(modules, this);
    }

    @Override
    long bytes() {
        return bytes.sum();
    }

    @Override
    public void written(String key) {
        problem(shown(key), "still being written; not in the bucket yet");
    }

    /** Links and empty files have none: there is nothing to cache. */
    static boolean hasBytes(ObjectVersion version) {
        return version.size() > 0;
    }

    /** The path of a key, as the mount shows it. */
    final String shown(String key) {
        return FileSelection.shown(modules.tree(), key);
    }

    /** Looks the name up again, so that the next job finds its current object. Null if that fails. */
    final @Nullable Answer forget(ObjectVersion version) {
        Place place = modules.tree().place(version.key());
        if (place == null) {
            return null;
        }
        modules.tree().invalidate(place.parent(), place.name(), version);
        try {
            return modules.tree().lookup(place.parent(), place.name());
        } catch (ObjectStoreException e) {
            log.debug("Cannot look up {} again", version.key(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return null;
    }
}
