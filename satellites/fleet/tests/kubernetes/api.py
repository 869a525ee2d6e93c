"""A small Kubernetes: `api.py FOLDER` serves the part of the API that Jobs need, and runs their pods.

The server refuses what the API of Kubernetes refuses: wrong names, labels and quantities, and unknown fields. Each pod
is a process in namespaces of its own. It sees this machine's programs and libraries, as its image, and the mounted
volume, and nothing else. FOLDER/volumes/CLAIM is the volume of a claim; FOLDER/logs gets the pods' output. The server
writes FOLDER/config, the file for `kubectl --kubeconfig`, when it is ready.
"""

import http.server
import json
import pathlib
import re
import subprocess
import sys
import threading

FOLDER = pathlib.Path(sys.argv[1])
JOBS = re.compile(r"/apis/batch/v1/namespaces/mine/jobs(?:/([^/?]+))?")


class Invalid(Exception):
    """The reason for which an object is refused."""


def matches(pattern, most=253):
    def check(path, value):
        if not isinstance(value, str) or len(value) > most or not re.fullmatch(pattern, value):
            raise Invalid(f"{path}: invalid value: {value!r}")

    return check


def one_of(*values):
    def check(path, value):
        if value not in values:
            raise Invalid(f"{path}: unsupported value: {value!r}")

    return check


def number(least):
    def check(path, value):
        if type(value) is not int or not least <= value < 2**31:
            raise Invalid(f"{path}: invalid value: {value!r}")

    return check


def text(path, value):
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"{path}: required value")


def local_path(path, value):
    if value.startswith("/") or ".." in value.split("/"):
        raise Invalid(f"{path}: must be a relative path without '..': {value!r}")


def image(path, value):
    # The API takes any text, but no node could pull an image of another name.
    matches(r"[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*(:[A-Za-z0-9_.-]+)?(@sha256:[0-9a-f]{64})?")(path, value)


def mapping(key, value):
    def check(path, found):
        for name, of_name in found.items():
            key(f"{path}: key", name)
            value(f"{path}.{name}", of_name)

    return check


def listed(item):
    def check(path, found):
        if not isinstance(found, list) or not found:
            raise Invalid(f"{path}: required value")
        for index, one in enumerate(found):
            item(f"{path}[{index}]", one)

    return check


def fields(required, optional=None):
    every = {**required, **(optional or {})}

    def check(path, found):
        if not isinstance(found, dict):
            raise Invalid(f"{path}: not an object")
        for name in required.keys() - found.keys():
            raise Invalid(f"{path}.{name}: required value")
        for name, value in found.items():
            if name not in every:
                raise Invalid(f'unknown field "{path}.{name}"')
            every[name](f"{path}.{name}", value)

    return check


# RFC 1123.
label = matches(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", 63)
domain = matches(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
label_value = matches(r"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?", 63)
label_key = matches(r"([a-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
quantity = matches(r"[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?")
quantities = fields({}, {"cpu": quantity, "memory": quantity})
labels = mapping(label_key, label_value)

container = fields(
    {"name": label, "image": image, "command": listed(text)},
    {
        "resources": fields({}, {"requests": quantities, "limits": quantities}),
        "volumeMounts": listed(fields({"name": label, "mountPath": matches("/[^:]*")}, {"subPath": local_path})),
    },
)
pod = fields(
    {"restartPolicy": one_of("Never", "OnFailure"), "containers": listed(container)},
    {
        "activeDeadlineSeconds": number(1),
        "volumes": listed(fields({"name": label, "persistentVolumeClaim": fields({"claimName": domain})})),
    },
)
exit_codes = fields({"operator": one_of("In", "NotIn"), "values": listed(number(0))}, {"containerName": label})
job = fields(
    {
        "apiVersion": one_of("batch/v1"),
        "kind": one_of("Job"),
        # Pods have the Job's name as a label.
        "metadata": fields(
            {"name": label}, {"labels": labels, "annotations": mapping(label_key, text), "namespace": one_of("mine")}
        ),
        "spec": fields(
            {"template": fields({"spec": pod}, {"metadata": fields({}, {"labels": labels})})},
            {
                "completions": number(1),
                "parallelism": number(0),
                "backoffLimit": number(0),
                "podFailurePolicy": fields(
                    {"rules": listed(fields({"action": one_of("FailJob"), "onExitCodes": exit_codes}))}
                ),
            },
        ),
    }
)

# The root of a pod has this machine's system and the volume. $1: the pod's name, $2: the volume, $3: its place.
CONTAINER = r"""
set -e
name=$1 volume=$2 place=$3
shift 3
hostname "$name"
root=$(mktemp -d)
mount -t tmpfs none "$root"
for folder in bin lib lib32 lib64 usr etc dev; do
    if [ -L "/$folder" ]; then
        cp -P "/$folder" "$root"
    elif [ -d "/$folder" ]; then
        mkdir "$root/$folder"
        mount --rbind "/$folder" "$root/$folder"
    fi
done
mkdir -p "$root/proc" "$root/tmp" "$root$place"
mount -t proc proc "$root/proc"
mount --bind "$volume" "$root$place"
exec chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin "$@"
"""


class Job:
    """A Job that runs its pods."""

    def __init__(self, manifest):
        self.manifest = manifest
        self.name = manifest["metadata"]["name"]
        self.active, self.succeeded, self.failed = set(), 0, 0
        self.begun, self.over, self.processes = 0, None, []
        self.lock = threading.Lock()

    def object(self):
        status = {"succeeded": self.succeeded, "failed": self.failed}
        if self.active:
            status["active"] = len(self.active)
        if self.over:
            status["conditions"] = [{"type": self.over, "status": "True"}]
        return {**self.manifest, "status": status}

    def go_on(self):
        """Begins the pods that may run now. The caller has the lock."""
        spec = self.manifest["spec"]
        completions = spec.get("completions", 1)
        if self.succeeded == completions:
            self.over = "Complete"
        while not self.over and len(self.active) < min(spec.get("parallelism", 1), completions - self.succeeded):
            self.begun += 1
            self.active.add(self.begun)
            threading.Thread(target=self.pod, args=[self.begun]).start()

    def pod(self, number):
        spec = self.manifest["spec"]["template"]["spec"]
        container = spec["containers"][0]
        mount = container["volumeMounts"][0]
        claims = {volume["name"]: volume["persistentVolumeClaim"]["claimName"] for volume in spec["volumes"]}
        volume = FOLDER / "volumes" / claims[mount["name"]] / mount.get("subPath", "")
        name = f"{self.name}-{number}"
        words = ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "sh", "-c", CONTAINER, "pod"]
        words += [name, str(volume), mount["mountPath"], *container["command"]]
        with self.lock, open(FOLDER / "logs" / name, "wb") as log:
            if self.over:
                return
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")
            self.processes.append(process)
        code = process.wait()
        rules = self.manifest["spec"].get("podFailurePolicy", {}).get("rules", [])
        with self.lock:
            self.active.discard(number)
            self.succeeded += code == 0
            self.failed += code != 0
            ends = any(code in rule["onExitCodes"]["values"] for rule in rules)
            if self.failed > self.manifest["spec"].get("backoffLimit", 6) or (code != 0 and ends):
                self.over = "Failed"
            self.go_on()


    def delete(self):
        with self.lock:
            self.over = "Failed"
            for process in self.processes:
                process.kill()


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    jobs = {}

    def answer(self, code, body):
        body = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, code, reason, message):
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
        self.answer(code, {**status, "code": code, "reason": reason, "message": message})

    def do_GET(self):
        found = JOBS.match(self.path)
        resources = {"kind": "APIResourceList", "apiVersion": "v1"}
        jobs = {"name": "jobs", "singularName": "job", "namespaced": True, "kind": "Job"}
        verbs = ["create", "delete", "get", "list", "patch", "update", "watch"]
        version = {"groupVersion": "batch/v1", "version": "v1"}
        group = {"name": "batch", "versions": [version], "preferredVersion": version}
        known = {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group]},
            "/api/v1": {**resources, "groupVersion": "v1", "resources": []},
            "/apis/batch/v1": {**resources, "groupVersion": "batch/v1", "resources": [{**jobs, "verbs": verbs}]},
        }
        path = self.path.partition("?")[0]
        if found and found[1] in self.jobs:
            self.answer(200, self.jobs[found[1]].object())
        elif path in known:
            self.answer(200, known[path])
        else:
            self.refuse(404, "NotFound", f"{path} not found")

    def do_POST(self):
        manifest = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            job("Job", manifest)
        except Invalid as why:
            return self.refuse(422, "Invalid", f"Job is invalid: {why}")
        if manifest["metadata"]["name"] in self.jobs:
            return self.refuse(409, "AlreadyExists", "there is a Job of this name")
        new = self.jobs[manifest["metadata"]["name"]] = Job(manifest)
        with new.lock:
            new.go_on()
        self.answer(201, new.object())

    def do_DELETE(self):
        found = JOBS.match(self.path)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not found or found[1] not in self.jobs:
            return self.refuse(404, "NotFound", f"{self.path} not found")
        self.jobs.pop(found[1]).delete()
        self.answer(200, {"kind": "Status", "apiVersion": "v1", "status": "Success"})

    def log_message(self, *words):
        with open(FOLDER / "requests", "a") as log:
            print(*words, file=log)


(FOLDER / "logs").mkdir(exist_ok=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
config = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "here", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
    "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    "users": [{"name": "me", "user": {}}],
    "current-context": "here",
}
(FOLDER / "config.part").write_text(json.dumps(config))
(FOLDER / "config.part").rename(FOLDER / "config")
server.serve_forever()
