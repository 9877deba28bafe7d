package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One commit of one file, on a thread of its own, so that who waits for it may be interrupted and it goes on. */
final class Commit implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Commit.class);

    private static final long FIRST_PAUSE_SECONDS = 1;
    private static final long LONGEST_PAUSE_SECONDS = 60;

    private final FileCommits file;
    private final Upload upload;
    private final StillContent content;
    private final long changes;
    private final WriteCondition condition;

    /** Nobody waits for it: what may be over in a while is tried again. */
    private volatile boolean behind;

    private @Nullable Thread thread; // guarded by this
    private boolean cancelled; // guarded by this

    /** The request is under way that makes it visible. Guarded by this. */
    private boolean deciding;

    /** @param changes how many changes the content has */
    Commit(
            FileCommits file,
            Upload upload,
            StillContent content,
            long changes,
            WriteCondition condition,
            boolean behind) {
        this.file = file;
        this.upload = upload;
        this.content = content;
        this.changes = changes;
        this.condition = condition;
        this.behind = behind;
    }

    Upload upload() {
        return upload;
    }

    long changes() {
        return changes;
    }

    boolean isBehind() {
        return behind;
    }

    /** Somebody waits for it now: it fails rather than being tried again. */
    void awaited() {
        behind = false;
    }

    @Override
    public void run() {
        Exception failure = null;
        try {
            begin();
            ObjectVersion version = commitOrAskWhy();
            finish(); // an interrupt from now on would only close the files that it finds in use
            file.shared().pages().keep(version, content);
            file.succeeded(this, version);
        } catch (InterruptedException e) {
            failure = new IOException("'" + content.key() + "' is not committed: the mount ends", e);
        } catch (Exception e) {
            failure = e;
        } catch (Error e) { // who waits for it would wait for ever
            log.error("Unforeseen while '{}' was committed", content.key(), e);
            failure = new IOException("'" + content.key() + "' is not committed: " + e, e);
        } finally {
            finish();
        }
        file.ended(this, failure);
    }

    private ObjectVersion commitOrAskWhy() throws ObjectStoreException, IOException, InterruptedException {
        try {
            return commit();
        } catch (ObjectStoreException e) {
            if (isFinal(e)) {
                file.unheard().ask(content.key(), condition);
            }
            throw e;
        }
    }

    private ObjectVersion commit() throws ObjectStoreException, IOException, InterruptedException {
        for (long pause = FIRST_PAUSE_SECONDS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_SECONDS)) {
            try {
                ObjectVersion earlier = earlierCommit();
                return earlier == null ? send() : earlier;
            } catch (ObjectStoreException.PreconditionFailed e) {
                ObjectVersion earlier = earlierCommit(); // whose request was still on its way then
                if (earlier == null) {
                    throw e;
                }
                return earlier;
            } catch (ObjectStoreException e) {
                if (!behind || !mayPass(e)) {
                    throw e;
                }
                log.warn("'{}' cannot be committed now: {}. Again in {} s.", content.key(), e.getMessage(), pause);
                begin();
                TimeUnit.SECONDS.sleep(pause);
            }
        }
    }

    private ObjectVersion send() throws ObjectStoreException, IOException, InterruptedException {
        try {
            return upload.commit(content.size(), condition, this::decide);
        } catch (IOException e) {
            if (e.getCause() instanceof ObjectStoreException cause) {
                throw cause; // of a body, part of which is in the version beneath
            }
            throw e;
        }
    }

    /** Whether the same may succeed in a while. */
    static boolean mayPass(Exception failure) {
        return failure instanceof ObjectStoreException.Throttled || failure instanceof ObjectStoreException.Unavailable;
    }

    /** Whether the object is not what it was, which does not pass: all else may be mended at the store. */
    static boolean isFinal(Exception failure) {
        return failure instanceof ObjectStoreException.PreconditionFailed
                || failure instanceof ObjectStoreException.NotFound;
    }

    /** What a commit of an earlier run has made of the object unnoticed, so that there is nothing left to do: else null. */
    private @Nullable ObjectVersion earlierCommit() throws ObjectStoreException, IOException, InterruptedException {
        ObjectVersion there = file.unheard().isRecovered() ? file.shared().earlierCommit(content) : null;
        if (there != null) {
            log.info("'{}' was committed already, just before the crash", content.key());
            upload.abandon();
        }
        return there;
    }

    private synchronized void begin() throws InterruptedException {
        if (cancelled) {
            throw new InterruptedException();
        }
        thread = Thread.currentThread();
        deciding = false;
    }

    private synchronized void decide() throws InterruptedException {
        begin();
        deciding = true;
        file.unheard().deciding();
    }

    private synchronized void finish() {
        thread = null;
        Thread.interrupted(); // a late cancellation
    }

    /** Ends it, but not the request that decides, whose outcome nobody would know: that still ends one way or the other. */
    synchronized void withdraw() {
        cancelled = true;
        if (!deciding) {
            cancel();
        }
    }

    synchronized void cancel() {
        cancelled = true;
        if (thread != null) {
            thread.interrupt();
        }
    }
}
