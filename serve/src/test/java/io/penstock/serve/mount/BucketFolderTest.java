package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class BucketFolderTest {
    private final InMemoryObjectStore store = new InMemoryObjectStore();

    private List<String> keys() throws Exception {
        return store.list(ListRequest.of("", "")).objects().stream()
                .map(StoredObject::version)
                .map(ObjectVersion::key)
                .toList();
    }

    @Test
    void names_putTwiceAndRemoved_areObjectsBelowThePrefix() throws Exception {
        BucketFolder folder = new BucketFolder(store, "data/");
        store.put("data/.penstock/", "");
        store.put("other/.penstock/share/10.0.0.9_7420", "");

        folder.put("10.0.0.1_7420");
        folder.put("10.0.0.1_7420");
        folder.put("10.0.0.2_7420");

        assertThat(folder.list()).containsOnlyKeys("10.0.0.1_7420", "10.0.0.2_7420");
        assertThat(keys()).contains("data/.penstock/share/10.0.0.1_7420");
        folder.remove("10.0.0.1_7420");
        folder.remove("10.0.0.1_7420");
        assertThat(folder.list()).containsOnlyKeys("10.0.0.2_7420");
    }

    @Test
    void list_moreThanAPage_hasAll() throws Exception {
        BucketFolder folder = new BucketFolder(store, "");
        for (int i = 0; i <= ListRequest.MAX_KEYS; i++) {
            folder.put("10.0.0.1_" + i);
        }
        assertThat(folder.list()).hasSize(ListRequest.MAX_KEYS + 1);
    }

    @Test
    void put_storeRefuses_isAnIoExceptionWithItsReason() {
        FaultyObjectStore refusing = new FaultyObjectStore(store);
        refusing.always(_ -> true, Fault.fail(ObjectStoreException.Refused::new));

        assertThatThrownBy(() -> new BucketFolder(refusing, "").put("10.0.0.1_7420"))
                .isInstanceOf(IOException.class);
    }
}
