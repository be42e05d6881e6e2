"""What is sent again, what is not, and that nothing is made or missed twice. The test does what it prints."""
import json
import sys
import threading
import time
import uuid

sys.path.insert(0, sys.argv[1])
from jobcast import Jobcast, JobcastError, NoAnswer, UnexpectedAnswer, WaitTimeout, _new_request_key

facts = json.loads(sys.stdin.readline())
jobcast = Jobcast()
direct = Jobcast(facts["direct"])


def ask(what):
    print(what, flush=True)
    sys.stdin.readline()


def rejection(act):
    try:
        act()
    except Exception as error:
        return error
    raise AssertionError("it was not rejected")


# A trigger whose answer is cut before it, in its headers and in its body makes one run.
ask("cut 0 40 400")
run = jobcast.trigger("restart", device_ids=["a", "b"])
assert [each.run_id for each in direct.list_runs()] == [run.run_id]
assert run["total"] == 2 and run["counts"]["PENDING"] == 2 and isinstance(run, dict)

# Two triggers are two runs, unless they have the same key.
other = jobcast.trigger("restart", device_ids=["a"], idempotency_key="order-4711")
assert jobcast.trigger("restart", device_ids=["a"], idempotency_key="order-4711").run_id == other.run_id
assert jobcast.trigger("restart", device_ids=["a"]).run_id != other.run_id

keys = [uuid.UUID(_new_request_key()) for _ in range(1000)]
assert len(set(keys)) == 1000 and {(key.version, key.variant) for key in keys} == {(7, uuid.RFC_4122)}
assert abs((keys[0].int >> 80) / 1000 - time.time()) < 60

# A key is made once; the caller learns that there was no answer.
ask("cut 0")
error = rejection(lambda: jobcast.create_key("once"))
assert isinstance(error, NoAnswer) and isinstance(error, ConnectionError) and error.was_sent, error
assert [key["keyName"] for key in direct.list_keys()].count("once") == 1

# What an earlier try has done counts as done.
ask("cut 0")
assert jobcast.cancel_run(other.run_id)["finished"]
ask("cut 0")
assert jobcast.delete_job("spare") is None
error = rejection(lambda: jobcast.delete_job("spare"))
assert isinstance(error, JobcastError) and (error.status, error.code) == (404, "J-301"), error
assert error.problem["requestId"] == error.request_id and error.message == "Job not found", error.problem
assert str(error) == 'J-301: There is no job "spare".', str(error)
error = rejection(lambda: list(jobcast.list_devices(where="site=")))
assert error.code == "J-503" and error.problem["position"] == 6 and error.field == "where", error.problem
error = rejection(lambda: jobcast.trigger("restart", device_ids=["nobody"]))
assert error.code == "J-001" and error.device_ids == ["nobody"], error.problem

# Answers that pass are waited for; a redirect would send the key elsewhere.
assert Jobcast(facts["passing"]).readyz() == {"status": "ok"}
error = rejection(lambda: Jobcast(facts["redirecting"]).livez())
assert isinstance(error, UnexpectedAnswer) and error.status == 307, error
error = rejection(lambda: Jobcast(facts["redirecting"], max_retries=0).create_key("x"))
assert isinstance(error, UnexpectedAnswer), error
error = rejection(lambda: Jobcast(facts["closed"], max_retries=1).create_key("x"))
assert isinstance(error, NoAnswer) and not error.was_sent, error

# Names that would lead to another route, and settings that lack.
assert isinstance(rejection(lambda: jobcast.delete_device("..")), ValueError)
assert isinstance(rejection(lambda: Jobcast("jobcast.example.com")), ValueError)

# A wait ends at its limit, continues over lost connections, and reports progress.
error = rejection(lambda: run.wait(timeout=0.3))
assert isinstance(error, WaitTimeout) and isinstance(error, TimeoutError) and not error.run["finished"]
seen = []
ask("finish")
assert run.wait(timeout=120, on_progress=lambda run: seen.append(run["counts"]["SUCCEEDED"])) is run
assert run["counts"]["SUCCEEDED"] == 1 and run["counts"]["FAILED"] == 1 and seen[-1] == 1, (run, seen)
assert [each["deviceId"] for each in run.unsuccessful()] == ["b"]

# Every event comes once and in order, wherever the line is cut.
ask("cut " + " ".join(str(290 + index * 137 % 701) for index in range(15)))
received = []


def follow():
    for event in jobcast.follow_events(after=0, types=["device.created"]):
        received.append(event)
        if event["data"]["deviceId"] == "last":
            return


thread = threading.Thread(target=follow)
thread.start()
for name in [*(f"d{index}" for index in range(30)), "last"]:
    direct.put_device(name)
thread.join()
assert [event["data"]["deviceId"] for event in received] == ["a", "b", *(f"d{n}" for n in range(30)), "last"]
error = rejection(lambda: next(jobcast.follow_events(types="no.such")))
assert isinstance(error, JobcastError) and error.code == "J-500", error
print("all")
