"""OpenStack Swift with its S3 API, whole in one process: proxy, account, container and object server on loopback.

Usage: s3-server.py FOLDER PORT PART ACCESS_KEY SECRET_KEY BUCKET
PART is the smallest part of a multipart upload, in bytes. Accounts and listings are in FOLDER, content is in memory.
Prints a line when it serves, and ends when its standard input does.
"""

import array
import os
import sys

import eventlet

eventlet.monkey_patch()

from eventlet import tpool, wsgi
from io import BytesIO
from swift.account.server import app_factory as account_factory
from swift.common import utils
from swift.common.ring import RingData
from swift.container.server import app_factory as container_factory
from swift.common.wsgi import loadapp, make_pre_authed_request
from swift.obj.mem_diskfile import InMemoryFileSystem
from swift.obj.mem_server import ObjectController

folder, port, part, access_key, secret_key, bucket = sys.argv[1:]

utils.HASH_PATH_PREFIX = utils.HASH_PATH_SUFFIX = b"test"
utils.SWIFT_CONF_FILE = os.path.join(folder, "swift.conf")


class Objects(InMemoryFileSystem):
    def get_object(self, name):
        # Each reader has a position of its own: several read the same object at once.
        fp, metadata = super().get_object(name)
        return fp and BytesIO(fp.getvalue()), metadata


class ObjectServer(ObjectController):
    def setup(self, conf):
        self._filesystem = Objects()


class Cache:
    """In place of memcached."""

    def __init__(self, app):
        self.app = app
        self.entries = {}

    def __call__(self, env, start_response):
        env["swift.cache"] = self
        return self.app(env, start_response)

    def get(self, key, **_):
        return self.entries.get(key)

    def set(self, key, value, **_):
        self.entries[key] = value
        return True

    def incr(self, key, delta=1, **_):
        self.entries[key] = self.entries.get(key, 0) + delta
        return self.entries[key]

    def delete(self, key, **_):
        self.entries.pop(key, None)


def listen(number=0):
    return eventlet.listen(("127.0.0.1", number), backlog=1024)


class Silent:
    def debug(self, *_, **__):
        pass

    info = warning = error = exception = critical = write = debug


def serve(listener, app):
    pool = eventlet.GreenPool(4096)
    eventlet.spawn_n(wsgi.server, listener, app, Silent(), custom_pool=pool, debug=False, keepalive=True)


def ring(kind, number):
    device = {"id": 0, "zone": 0, "region": 1, "device": "d", "ip": "127.0.0.1", "port": number, "weight": 1}
    device["replication_ip"], device["replication_port"] = device["ip"], number
    RingData([array.array("H", [0, 0])], [device], 31).save(os.path.join(folder, kind + ".ring.gz"))


os.makedirs(os.path.join(folder, "d"), exist_ok=True)
with open(utils.SWIFT_CONF_FILE, "w") as file:
    file.write("[swift-hash]\nswift_hash_path_prefix = test\nswift_hash_path_suffix = test\n")

common = {
    "devices": folder,
    "swift_dir": folder,
    "mount_check": "false",
    "node_timeout": "60",
    "conn_timeout": "10",
    "container_update_timeout": "60",
    "log_name": "swift",
    "log_level": "CRITICAL",
}
parts = {"account": account_factory, "container": container_factory, "object": lambda conf: ObjectServer(conf)}
listeners = {}
for kind in parts:
    listeners[kind] = listen()
    ring(kind, listeners[kind].getsockname()[1])
for kind, factory in parts.items():
    serve(listeners[kind], factory(dict(common)))

proxy = os.path.join(folder, "proxy-server.conf")
with open(proxy, "w") as file:
    file.write(f"""
[DEFAULT]
swift_dir = {folder}
log_level = CRITICAL
[pipeline:main]
pipeline = catch_errors s3api tempauth copy slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
node_timeout = 60
conn_timeout = 10
recoverable_node_timeout = 60
error_suppression_limit = 100000
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:s3api]
use = egg:swift#s3api
min_segment_size = {part}
max_upload_part_num = 10000
auth_pipeline_check = false
[filter:tempauth]
use = egg:swift#tempauth
user_{access_key.replace(":", "_")} = {secret_key} .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
min_segment_size = 1
max_manifest_segments = 10000
rate_limit_after_segment = 10000
""")

app = Cache(loadapp(proxy))
account = "AUTH_" + access_key.split(":")[0]
made = make_pre_authed_request({}, "PUT", f"/v1/{account}/{bucket}").get_response(app)
if made.status_int != 201:
    sys.exit(f"the bucket was not created: {made.status}")
serve(listen(int(port)), app)
print("serves", flush=True)
tpool.execute(sys.stdin.read)
os._exit(0)
