package io.penstock.settings;

import static io.penstock.settings.ValueType.price;

import java.math.BigDecimal;
import java.util.List;

/** The {@link Settings} for prices, from which penstock stats computes the cost of a mount. */
public final class CostSettings {
    public static final Setting<BigDecimal> GETS = Setting.of(
                    "cost.gets", price(), "The price of 1,000 GET and HEAD requests, in any currency.")
            .withDefault("0.0004")
            .live();

    public static final Setting<BigDecimal> PUTS = Setting.of(
                    "cost.puts", price(), "The price of 1,000 PUT, COPY, POST and LIST requests.")
            .withDefault("0.005")
            .live();

    public static final Setting<BigDecimal> TRANSFER = Setting.of(
                    "cost.transfer",
                    price(),
                    "The price of fetching 1 GiB: 0 within a region, 0.09 from S3 to the Internet.")
            .withDefault("0")
            .live();

    static final Settings.Group GROUP = new Settings.Group("Cost", List.of(GETS, PUTS, TRANSFER));

    private CostSettings() {}
}
