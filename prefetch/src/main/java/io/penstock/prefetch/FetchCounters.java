package io.penstock.prefetch;

import io.penstock.cache.Urgency;
import java.util.concurrent.atomic.LongAdder;

/** The counters of {@link ReadaheadStatistics}. */
final class FetchCounters {
    final LongAdder demandGets = new LongAdder();
    final LongAdder readaheadGets = new LongAdder();
    final LongAdder cancelled = new LongAdder();
    final LongAdder failed = new LongAdder();
    final LongAdder bytes = new LongAdder();
    final LongAdder readaheadBytes = new LongAdder();
    final LongAdder readaheadUsed = new LongAdder();
    final LongAdder memoryNanos = new LongAdder();
    final LongAdder slotNanos = new LongAdder();

    void started(Urgency urgency) {
        (urgency == Urgency.DEMAND ? demandGets : readaheadGets).increment();
    }

    ReadaheadStatistics snapshot() {
        return new ReadaheadStatistics(
                demandGets.sum(),
                readaheadGets.sum(),
                cancelled.sum(),
                failed.sum(),
                bytes.sum(),
                readaheadBytes.sum(),
                readaheadUsed.sum(),
                memoryNanos.sum(),
                slotNanos.sum());
    }
}
