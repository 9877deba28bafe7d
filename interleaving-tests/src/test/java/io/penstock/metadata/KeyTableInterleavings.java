package io.penstock.metadata;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.penstock.core.ObjectVersion;
import io.penstock.interleaving.Delay;
import io.penstock.listing.KeyTable;
import io.penstock.listing.KeyTableBuilder;
import io.penstock.metadata.FlatListing.Validity;
import io.penstock.metadata.Listing.DatedPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.StoredObject;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** {@link FlatListing} while the next table of keys replaces the one that answers. */
final class KeyTableInterleavings {
    private static final Directory ROOT = new Directory("");

    /** Nanoseconds until another table answers, about. */
    private static final int PUBLICATION = 3000;

    private KeyTableInterleavings() {}

    private static StoredObject object(String key, String etag) {
        return new StoredObject(new ObjectVersion(key, etag, 1, Instant.EPOCH), "STANDARD");
    }

    /** Two objects with this ETag. */
    private static KeyTable table(String etag) {
        try (KeyTableBuilder builder = new KeyTableBuilder()) {
            builder.page(0);
            builder.add(object("a", etag));
            builder.add(object("b", etag));
            return KeyTable.join(List.of(builder));
        }
    }

    /** A listing whose former table answers, and whose next one is ready. */
    private static final class Change {
        final FlatListing listing = new FlatListing(() -> 0, _ -> {});
        final KeyTable next = table("next");
        final PendingListing pending;

        Change() {
            boolean _ = publish(listing.begin(), table("former"));
            pending = listing.begin();
        }

        boolean publish() {
            return publish(pending, next);
        }

        private boolean publish(PendingListing from, KeyTable table) {
            return listing.publish(from, table, List.of(), Validity.Always.ALWAYS, (_, _, _) -> {});
        }

        boolean isClosed() {
            try {
                next.cursor().seek("a");
                return false;
            } catch (IllegalStateException e) {
                return true;
            }
        }

        String page() {
            DatedPage page = listing.page(ListRequest.of("", "/"));
            return page == null
                    ? "none"
                    : page.page().objects().stream()
                            .map(object -> object.version().etag())
                            .collect(Collectors.joining(" "));
        }
    }

    /** A reader gets a page of the former table or of the next, or asks the store, but never gets a mixture. */
    @JCStressTest
    @Outcome(
            id = {"former former, next next", "next next, next next", "none, next next"},
            expect = ACCEPTABLE,
            desc = "one table")
    @State
    public static class Reader {
        private final Change change = new Change();

        @Actor
        public void publishes() {
            boolean _ = change.publish();
        }

        @Actor
        public void reads(LL_Result r) {
            Delay.upTo(PUBLICATION);
            r.r1 = change.page();
        }

        @Arbiter
        public void end(LL_Result r) {
            r.r2 = change.page();
            change.listing.close();
        }
    }

    /** No table answers about a name that was changed here since the listing began. */
    @JCStressTest
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "the name is superseded")
    @State
    public static class ChangedName {
        private final Change change = new Change();

        @Actor
        public void publishes(ZZ_Result r) {
            r.r1 = change.publish();
        }

        @Actor
        public void changes() {
            Delay.upTo(PUBLICATION);
            change.listing.supersede(ROOT, "a");
        }

        @Arbiter
        public void end(ZZ_Result r) {
            r.r2 = change.listing.find(ROOT, "a") != null;
            change.listing.close();
        }
    }

    /** Nor about a name for which the store has given another answer since then. */
    @JCStressTest
    @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "the name is superseded")
    @State
    public static class AnsweredName {
        private final Change change = new Change();

        @Actor
        public void publishes(ZZ_Result r) {
            r.r1 = change.publish();
        }

        @Actor
        public void answers() {
            Delay.upTo(PUBLICATION);
            change.listing.answered(ROOT, "a", new FileEntry(object("a", "former")));
        }

        @Arbiter
        public void end(ZZ_Result r) {
            r.r2 = change.listing.find(ROOT, "a") != null;
            change.listing.close();
        }
    }

    /** Once it is closed, no table answers, and the next one is closed, whether or not it has answered. */
    @JCStressTest
    @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "all is closed")
    @State
    public static class Closing {
        private final Change change = new Change();

        @Actor
        public void publishes() {
            boolean _ = change.publish();
        }

        @Actor
        public void closes() {
            Delay.upTo(PUBLICATION);
            change.listing.close();
        }

        @Arbiter
        public void end(ZZ_Result r) {
            r.r1 = change.listing.isKnown();
            r.r2 = change.isClosed();
            change.listing.close();
            change.next.close();
        }
    }
}
