package io.penstock.serve.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.objectstore.s3.RequestStatistics;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

final class CostTest {
    @Test
    void of_requestsOfEachKind_pricesThemAsS3Does() {
        RequestStatistics sent = new RequestStatistics(1_000, 500, 200, 300, 9_999, 7, 8);

        Cost cost = Cost.of(sent, 3L << 29, new BigDecimal("0.0004"), new BigDecimal("0.005"), new BigDecimal("0.09"));

        assertThat(cost.requests()).isEqualTo(1.5 * 0.0004 + 0.5 * 0.005, within(1e-12));
        assertThat(cost.transfer()).isEqualTo(1.5 * 0.09, within(1e-12));
    }
}
