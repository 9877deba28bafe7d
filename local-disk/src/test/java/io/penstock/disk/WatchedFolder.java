package io.penstock.disk;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A folder that announces each operation, so that a test can make it fail. */
final class WatchedFolder {
    interface Watcher {
        /** @param operation the {@link DataFolder} method, or {@code file} and the {@link DataFile} method */
        void before(String operation) throws Exception;
    }

    private WatchedFolder() {}

    static DataFolder of(DataFolder folder, Watcher watcher) {
        return watched(DataFolder.class, folder, "", watcher);
    }

    private static <T> T watched(Class<T> type, T target, String prefix, Watcher watcher) {
        return proxy(type, (_, method, arguments) -> {
            watcher.before(prefix + method.getName());
            Object result = invoke(method, target, arguments);
            return result instanceof DataFile file ? watched(DataFile.class, file, "file ", watcher) : result;
        });
    }

    /** A disk with a bad sector: a read gets the bytes before this position, and then fails. */
    static DataFolder withBadSector(DataFolder folder, long at) {
        return proxy(DataFolder.class, (_, method, arguments) -> {
            Object result = invoke(method, folder, arguments);
            return result instanceof DataFile file ? withBadSector(file, at) : result;
        });
    }

    private static DataFile withBadSector(DataFile file, long at) {
        return proxy(DataFile.class, (_, method, arguments) -> {
            if (!method.getName().equals("read")) {
                return invoke(method, file, arguments);
            }
            long position = (Long) arguments[0];
            ByteBuffer to = (ByteBuffer) arguments[1];
            int limit = to.limit();
            to.limit(to.position() + (int) Math.clamp(at - position, 0L, to.remaining()));
            int read = file.read(position, to);
            if (to.limit() < limit) {
                to.limit(limit);
                throw new IOException("Input/output error");
            }
            return read;
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object invoke(Method method, Object target, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
