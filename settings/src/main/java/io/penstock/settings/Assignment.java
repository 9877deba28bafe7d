package io.penstock.settings;

import org.jspecify.annotations.Nullable;

/** A setting's value and its origin. */
record Assignment<T>(Setting<T> setting, T value, Origin origin) {
    /** @return null if the setting does not allow the text */
    static <T> @Nullable Assignment<T> read(Setting<T> setting, String text, Origin origin) {
        T value = setting.type().parse(text);
        return value == null ? null : new Assignment<>(setting, value, origin);
    }

    Assignment<T> forBucket(String bucket) {
        return new Assignment<>(setting, setting.type().forBucket(value, bucket), origin);
    }

    /** Whether the value is also the setting's default. */
    boolean isDefaultIn(Setting.Context context) {
        Assignment<T> ofDefault = setting.defaultIn(context);
        return ofDefault != null && ofDefault.print().equals(print());
    }

    String print() {
        return setting.type().print(value);
    }
}
