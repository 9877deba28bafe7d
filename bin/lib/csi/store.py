"""Makes the buckets of the test, and a second user: store.py ENDPOINT"""

import io
import sys

import minio
import minio.credentials

address = sys.argv[1].removeprefix("http://")
store = minio.Minio(address, "tester", "tester-secret", secure=False)
for bucket in "data", "other":
    store.make_bucket(bucket)
    content = f"content of {bucket}\n".encode() * 1000
    store.put_object(bucket, "file", io.BytesIO(content), len(content))
admin = minio.MinioAdmin(endpoint=address, credentials=minio.credentials.StaticProvider("tester", "tester-secret"), secure=False)
admin.user_add("second", "second-secret")
admin.policy_set("readwrite", user="second")
