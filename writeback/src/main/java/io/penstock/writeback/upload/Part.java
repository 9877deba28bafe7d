package io.penstock.writeback.upload;

import io.penstock.objectstore.UploadedPart;
import io.penstock.writeback.content.Run;
import org.jspecify.annotations.Nullable;

/**
 * A part of an upload, at the store or in flight. Guarded by its upload's lock.
 *
 * <pre>
 *   OUTDATED ──enqueued──▶ QUEUED ──its turn──▶ SENDING ───────────────▶ UP
 *      ▲ ▲                   │                   │    │changed           │
 *      │ └────no longer due──┘            failed │    ▼                  │
 *      │                                         │  SENDING_OLD          │
 *      └─────────────────────────────────────────┴────┴──────changed─────┘
 * </pre>
 *
 * <p>A part number is never in flight twice: the store would choose between the two.
 */
public final class Part {
    private enum State {
        OUTDATED,
        QUEUED,
        SENDING,
        SENDING_OLD,
        UP
    }

    private final int number;
    private Run run;
    private State state = State.OUTDATED;
    private @Nullable UploadedPart uploaded;

    /** The commit that waits for this part; 0 if there is none. */
    private int neededBy;

    /** The commit during which its last attempt began; 0 before the first. */
    private int begunIn;

    public Part(int number, Run run) {
        this.number = number;
        this.run = run;
    }

    public int number() {
        return number;
    }

    public Run run() {
        return run;
    }

    /** Assigns the bytes that it must have now. */
    public void become(Run wanted) {
        if (!run.equals(wanted)) {
            run = wanted;
            changed();
        }
    }

    public void changed() {
        switch (state) {
            case SENDING -> state = State.SENDING_OLD;
            case UP -> {
                state = State.OUTDATED;
                uploaded = null;
            }
            case OUTDATED, QUEUED, SENDING_OLD -> {}
        }
    }

    boolean isOutdated() {
        return state == State.OUTDATED;
    }

    void enqueued() {
        state = State.QUEUED;
    }

    void begun(int commit) {
        state = State.SENDING;
        begunIn = commit;
    }

    public void sent(UploadedPart part) {
        if (state == State.SENDING) {
            state = State.UP;
            uploaded = part;
        } else {
            state = State.OUTDATED;
        }
    }

    /** It is no longer in flight, and the store does not have it. */
    public void notSent() {
        state = State.OUTDATED;
    }

    /** The part at the store, if it has the current bytes; else null. */
    @Nullable
    public UploadedPart uploaded() {
        return uploaded;
    }

    void neededBy(int commit) {
        neededBy = commit;
    }

    boolean isNeededBy(int commit) {
        return neededBy == commit && commit != 0;
    }

    boolean wasBegunIn(int commit) {
        return begunIn == commit;
    }
}
