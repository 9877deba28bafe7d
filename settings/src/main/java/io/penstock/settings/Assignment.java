package io.penstock.settings;

import org.jspecify.annotations.Nullable;

/** One setting with one value from one place. */
record Assignment<T>(Setting<T> setting, T value, Origin origin) {
    /** @return null if the setting does not allow the text */
    static <T> @Nullable Assignment<T> read(Setting<T> setting, String text, Origin origin) {
        T value = setting.type().parse(text);
        return value == null ? null : new Assignment<>(setting, value, origin);
    }

    Assignment<T> forBucket(String bucket) {
        return new Assignment<>(setting, setting.type().forBucket(value, bucket), origin);
    }

    /** Whether the setting would have this value if nothing set it. */
    boolean isDefaultIn(Setting.Context context) {
        Assignment<T> ofDefault = setting.defaultIn(context);
        return ofDefault != null && ofDefault.print().equals(print());
    }

    String print() {
        return setting.type().print(value);
    }
}
