package io.penstock.disk;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** A folder that tells what is about to be done in it, so that a test can make it fail. */
final class WatchedFolder {
    interface Watcher {
        /** @param operation the name of the method of {@link DataFolder}, or {@code file} and that of {@link DataFile} */
        void before(String operation) throws Exception;
    }

    private WatchedFolder() {}

    static DataFolder of(DataFolder folder, Watcher watcher) {
        return watched(DataFolder.class, folder, "", watcher);
    }

    private static <T> T watched(Class<T> type, T target, String prefix, Watcher watcher) {
        InvocationHandler handler = (_, method, arguments) -> {
            watcher.before(prefix + method.getName());
            try {
                Object result = method.invoke(target, arguments);
                return result instanceof DataFile file ? watched(DataFile.class, file, "file ", watcher) : result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
