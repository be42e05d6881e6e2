"""Calls every operation of the API once; python-client.test.ts watches what is sent and answered."""
import io
import json
import os
import sys
import time

sys.path.insert(0, sys.argv[1])
from jobcast import Jobcast, JobcastError

jobcast = Jobcast()
facts = json.loads(sys.stdin.readline())
kiosk, execution = facts["deviceId"], facts["jobExecutionId"]


def until(act):
    """Entries of the audit are sealed within a second."""
    for _ in range(100):
        try:
            return act()
        except JobcastError as error:
            last = error
            time.sleep(0.2)
    raise last


# Health and keys
assert jobcast.livez() == {"status": "ok"}
assert jobcast.readyz() == {"status": "ok"}
assert jobcast.version()["version"]
assert "ADMIN" in jobcast.get_own_key()["scopes"]
jobcast.create_owner("north")
assert "north" in [owner["ownerName"] for owner in jobcast.list_owners()]
key = jobcast.create_key("approver", scopes=["APPROVE", "READ", "TRIGGER"])
approver = Jobcast(api_key=key["apiKey"])
spare = jobcast.create_key("spare", scopes=["READ"])
assert len(list(jobcast.list_keys(limit=1))) == 3
assert jobcast.revoke_key(spare["keyId"]) is None
enrollment = jobcast.create_enrollment(max_uses=2)
assert [each["enrollmentId"] for each in jobcast.list_enrollments()] == [enrollment["enrollmentId"]]
jobcast.revoke_enrollment(enrollment["enrollmentId"])

# Jobs
job = jobcast.put_job("restart", document={"handler": "restart"}, timeout_seconds=60)
assert job["jobName"] == "restart" and jobcast.get_job("restart") == job
job = jobcast.put_job("restart", document={"handler": "again"}, if_match=f'"{job["version"]}"')
assert [version["version"] for version in jobcast.list_job_versions("restart")] == [2, 1]
assert jobcast.get_job_version("restart", 1)["document"] == {"handler": "restart"}
assert jobcast.restore_job_version("restart", 1)["version"] == 3
assert {each["jobName"] for each in jobcast.list_jobs()} == {"restart", "written"}

# Devices
device = jobcast.put_device("kiosk 2 ä%", device_name="Zwei", tags=["t"], attributes={"site": "lima"})
assert device["deviceId"] == "kiosk 2 ä%" and jobcast.get_device("kiosk 2 ä%")["tags"] == ["t"]
assert jobcast.patch_device("kiosk 2 ä%", device_name=None)["deviceName"] == "kiosk 2 ä%"
assert jobcast.patch_device("kiosk 2 ä%", tags=["a", "b"])["attributes"] == {"site": "lima"}
assert jobcast.count_devices("site=lima")["total"] == 1
assert jobcast.change_devices(where="tag=a", add_tags=["c"], dry_run=True)["changed"] == 1
assert jobcast.import_devices([{"deviceId": "i1", "tags": ["i"]}, {"deviceId": "i2"}])["created"] == 2
assert jobcast.import_devices("deviceId,site\ni3,lima\n", dry_run=True)["created"] == 1
assert [each["deviceId"] for each in jobcast.list_devices(tag="i", online=False)] == ["i1"]
names = [each["deviceId"] for each in jobcast.list_devices(limit=2)]
assert names == ["i1", "i2", "kiosk 2 ä%", kiosk], names
page = jobcast.list_devices(limit=3).page()
assert len(page.items) == 3 and page.next_cursor
assert [each["deviceId"] for each in jobcast.list_devices(limit=3, cursor=page.next_cursor)] == names[3:]
assert jobcast.create_device_credential("i1")["deviceToken"]
jobcast.revoke_device_credential("i1")
jobcast.allow_device_certificate("i1")

# Groups, windows, secrets, files
jobcast.put_group("all", "tag=i or tag=a")
assert jobcast.get_group("all")["where"] and len(list(jobcast.list_groups())) == 1
jobcast.put_window("nights", "0 1 * * *", 60)
assert jobcast.get_window("nights")["windowName"] == "nights"
assert len(list(jobcast.list_windows())) == 1 and jobcast.list_window_times("nights", count=2)
jobcast.put_secret("TOKEN", "hunter2")
assert jobcast.get_secret("TOKEN")["secretName"] == "TOKEN" and len(list(jobcast.list_secrets())) == 1
content = os.urandom(200_000)
assert jobcast.put_file_version("app", "1", io.BytesIO(content))["size"] == len(content)
assert jobcast.put_file_version("app", "2", b"two")["size"] == 3
assert jobcast.get_file_version("app", "1")["size"] == len(content)
assert jobcast.get_file_content("app", "1").read() == content
assert [each["version"] for each in jobcast.list_file_versions("app")] == ["2", "1"]
assert [each["fileName"] for each in jobcast.list_files()] == ["app"]
jobcast.delete_file_version("app", "2")

# Runs
plan = jobcast.plan_run("restart", group="all", note="planned")
assert plan["total"] == 2
planned = jobcast.start_plan(plan["planId"])
assert planned["note"] == "planned" and jobcast.start_plan(plan["planId"]).run_id == planned.run_id
triggered = jobcast.trigger_job("restart", ["i1"], idempotency_key="once")
assert triggered == jobcast.trigger_job("restart", ["i1"], idempotency_key="once")
assert jobcast.create_run(job_name="restart", targets={"where": "tag=i"})["total"] == 1
waves = [{"size": 1}, {"size": "100%"}]
run = jobcast.trigger("restart", device_ids=["i1", "i2"], rollout={"waves": waves})
assert jobcast.pause_run(run.run_id)["rollout"]["state"] == "PAUSED"
assert jobcast.resume_run(run.run_id)["rollout"]["state"] == "ROLLING_OUT"
jobcast.change_run(run.run_id, {"waves": waves})
jobcast.advance_run(run.run_id)
assert jobcast.get_run_document(run.run_id) == {"handler": "restart"}
assert jobcast.get_run_failures(run.run_id)["total"] == 0
assert jobcast.get_run_timeline(run.run_id, buckets=2)["runId"] == run.run_id
assert run.cancel(force=True).refresh()["finished"]
assert {each["execState"] for each in run.unsuccessful()} == {"CANCELED"}
again = jobcast.retry_run(run.run_id, idempotency_key="again")
assert again["retryOf"] == run.run_id
assert jobcast.roll_back_run(again.run_id, to_version=2)["rollbackOf"] == again.run_id
waiting = [jobcast.trigger("restart", device_ids=["i1"], approval=True) for _ in range(2)]
assert approver.approve_run(waiting[0].run_id, comment="good")["approvals"][0]["comment"] == "good"
approver.deny_run(waiting[1].run_id)
assert run.run_id in [each.run_id for each in jobcast.list_runs(job_name="restart", limit=3)]

# Executions
found = jobcast.get_execution(execution)
assert found["deviceId"] == kiosk and found in jobcast.list_executions(device_id=kiosk)
assert jobcast.get_execution_document(execution) == {"handler": "written"}
assert jobcast.get_execution_history(execution)["items"]
assert jobcast.explain_execution(execution)["code"] == "ENDED"
assert jobcast.get_execution_output(execution).text() == "hello"
assert jobcast.get_execution_output(execution, offset=2).headers["X-Output-Attempt"] == "1"
assert jobcast.cancel_execution(triggered[0]["jobExecutionId"], force=True)["execState"] == "CANCELED"

# Schedules
when = {"cron": "0 3 * * *", "timeZone": "Europe/Berlin"}
jobcast.put_schedule("nightly", "restart", {"deviceIds": ["i1"]}, when)
assert jobcast.get_schedule("nightly")["jobName"] == "restart" and len(list(jobcast.list_schedules())) == 1
assert len(jobcast.list_next_occurrences("nightly", count=2)) == 2
jobcast.pause_schedule("nightly")
jobcast.resume_schedule("nightly")
assert jobcast.fire_schedule("nightly").cancel(force=True)["finished"]
jobcast.delete_schedule("nightly")

# Webhooks and events
hook = jobcast.put_webhook("tell", "http://127.0.0.1:9/nobody-listens")
assert hook["secret"] and jobcast.get_webhook("tell")["webhookName"] == "tell"
assert len(list(jobcast.list_webhooks())) == 1
jobcast.pause_webhook("tell")
jobcast.resume_webhook("tell")
assert jobcast.change_webhook_secret("tell")["secret"] != hook["secret"]
jobcast.test_webhook("tell")
for event in jobcast.follow_events(after=0, types=["run.*", "schedule.fired"]):
    if event["type"] == "schedule.fired":
        break
jobcast.replay_delivery("tell", event["eventId"])
assert list(jobcast.list_deliveries("tell")) is not None
jobcast.replay_webhook("tell", "2026-01-01T00:00:00Z")
jobcast.delete_webhook("tell")

# The fleet, the audit, sessions
jobcast.freeze_fleet(reason="a test")
assert jobcast.get_freeze()["reason"] == "a test"
jobcast.unfreeze_fleet()
assert jobcast.get_fleet()["devices"] and jobcast.get_fleet_groups(by="site")["groups"]
assert len(list(jobcast.list_fleet_devices(limit=2))) == 4
assert list(jobcast.list_bridges()) == []
assert jobcast.get_stats(job_name="restart")["jobs"]
assert next(iter(jobcast.list_audit(action="job.*")))["action"].startswith("job.")
assert until(jobcast.get_audit_checkpoint)
assert all(json.loads(line) for line in jobcast.export_audit().text().splitlines())
ticket = jobcast.create_sign_in_ticket()["ticket"]
assert jobcast.check_sign_in_ticket(ticket)["ownerName"] == "default"
jobcast.sign_in(ticket=ticket)
for session in jobcast.list_sessions():
    jobcast.end_session(session["sessionId"])
jobcast.sign_out()
exchanged = jobcast.exchange_token(facts["idToken"], "urn:ietf:params:oauth:token-type:id_token")
assert Jobcast(api_key=exchanged["access_token"]).get_own_key()["scopes"] == ["READ"]

for remove, name in [
    (jobcast.delete_secret, "TOKEN"),
    (jobcast.delete_window, "nights"),
    (jobcast.delete_group, "all"),
    (jobcast.delete_device, "i2"),
]:
    remove(name)
jobcast.delete_job("restart", force=True)
print("all")
