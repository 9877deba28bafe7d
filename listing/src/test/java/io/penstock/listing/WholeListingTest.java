package io.penstock.listing;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WholeListingTest {
    private final ManualClock clock = new ManualClock();
    private final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);

    /** That no key follows a range's last key is known from a probe, which may be older than the pages before it. */
    @Test
    void list_keyMadeAfterAnEmptyProbe_isNotAbsentSinceThen() throws Exception {
        for (int i = 0; i < 30_000; i++) {
            bucket.put("a%06d".formatted(i), "1");
        }
        AtomicReference<@Nullable String> made = new AtomicReference<>();
        AtomicLong madeAt = new AtomicLong();
        ForwardingObjectStore others = new ForwardingObjectStore(bucket) {
            @Override
            public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
                clock.advance(Duration.ofSeconds(1));
                ListPage page = super.list(request);
                String after = request.startAfter();
                if (after != null && page.objects().isEmpty() && made.compareAndSet(null, after + "new")) {
                    bucket.put(after + "new", "1"); // by another node, after this probe
                    madeAt.set(clock.nanoTime());
                }
                return page;
            }
        };
        LockStep steps = new LockStep();
        try (WholeListing whole = new WholeListing(others, "", 2, 1 << 26, steps, clock::nanoTime)) {
            CompletableFuture<WholeListing.Listed> listed = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> {
                try {
                    listed.complete(whole.list());
                } catch (Throwable e) {
                    listed.completeExceptionally(e);
                }
            });
            steps.rounds(listed);
            try (KeyTable table = listed.get().table()) {
                KeyCursor cursor = table.cursor();
                cursor.seek(requireNonNull(made.get()));

                assertThat(cursor.is(requireNonNull(made.get()))).isFalse();
                assertThat(cursor.asOfGap()).isLessThanOrEqualTo(madeAt.get());
            }
        }
    }
}
