"""The Python client of Jobcast: one file, the standard library only, Python 3.9 or newer.

    from jobcast import Jobcast

    jobcast = Jobcast()  # JOBCAST_URL and JOBCAST_API_KEY
    run = jobcast.trigger("restart", device_ids=["kiosk-1"]).wait(timeout=600)
    print(run["counts"]["SUCCEEDED"], "of", run["total"])

Every operation of the HTTP API is a method: getDevice of the OpenAPI document is `jobcast.get_device(device_id)`.
Arguments have Python names; what is inside of them, and what you get back, are dicts with the names of the
API: `device["deviceName"]`. A list gives all its items in a `for` loop, and fetches them page by page.

A call that is safe to repeat is repeated when the service is busy or cannot be reached. An error of the
service is a JobcastError with a `code`; no answer is a NoAnswer. Threads can share a client.
"""
# Written by `npm run generate` from docs/openapi.json; do not edit.

from __future__ import annotations

import base64
import email.utils
import errno
import hashlib
import http.client
import json
import os
import random
import re
import secrets
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Literal,
    Mapping,
    NamedTuple,
    Optional,
    Tuple,
    TypedDict,
    TypeVar,
    Union,
    overload,
)

T = TypeVar("T")

OMIT: Any = type("Omit", (), {"__repr__": lambda self: "OMIT"})()
"""The default of arguments where None has a meaning of its own: null in the body."""

class ApiKey(TypedDict):
    keyId: str
    keyName: str
    ownerId: str
    scopes: List[Scope]
    # The jobs it is restricted to; null: all
    jobs: Optional[List[str]]
    # The selector of the devices it is restricted to; null: all
    where: Optional[str]
    # The addresses it may be used from; null: any
    addresses: Optional[List[str]]
    expiresAt: Optional[str]
    createdAt: str
    revokedAt: Optional[str]
    # Accurate to a few seconds; null if never used
    lastUsedAt: Optional[str]
    # Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the
    # machine of the service. Null if it is older than this field
    createdBy: Optional[str]
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]
    # The session in which the key created it; null if the key was used directly
    createdBySession: Optional[str]


class ApprovalDecision(TypedDict):
    # Who decided: `key:<keyId>`, or `user:<subject>` for a person
    principal: str
    # The name of the key or the person in `principal`; null if it is neither, or a key of another owner
    name: Optional[str]
    at: str
    decision: Literal["APPROVED", "DENIED"]
    comment: Optional[str]


class AuditCheckpoint(TypedDict):
    """The last seal. Keep it outside of the service: an export is verified with it."""

    # The number of the seal; seals of an owner are numbered from 1
    seal: int
    ownerId: str
    at: str
    firstAuditId: int
    lastAuditId: int
    # How many entries it seals
    entries: int
    # The Merkle root of these entries (RFC 9162, SHA-256)
    root: str
    previous: Optional[str]
    # The beginning of the SHA-256 of the public key
    keyId: str
    # Ed25519, in base64url
    signature: str
    # The key that verifies it: 32 bytes in base64url
    publicKey: str


class AuditEntry(TypedDict):
    # Increasing within an owner; ids may have gaps
    auditId: int
    at: str
    # Who: `key:<keyId>`, `user:<subject>` for a person, or `operator`
    principal: str
    # The name of the key or the person, as it was then
    name: Optional[str]
    # Where the request came from
    address: Optional[str]
    # The request id in the log and in the response header X-Request-Id
    requestId: Optional[str]
    # What was done, in the form of an event type
    action: str
    # The resource it was done to
    subject: str
    # The state before; null if it did not exist. Secrets are masked; large values are replaced by a hash
    before: Any
    # The state after; null if it was deleted
    after: Any
    note: Optional[str]


class AuditEventData(TypedDict):
    """The checkpoint, as `GET /job/api/audit/checkpoint` returns it."""

    # The number of the seal; seals of an owner are numbered from 1
    seal: int
    ownerId: str
    at: str
    firstAuditId: int
    lastAuditId: int
    # How many entries it seals
    entries: int
    # The Merkle root of these entries (RFC 9162, SHA-256)
    root: str
    previous: Optional[str]
    # The beginning of the SHA-256 of the public key
    keyId: str
    # Ed25519, in base64url
    signature: str
    # The key that verifies it: 32 bytes in base64url
    publicKey: str


class AwaitedApproval(TypedDict):
    # How many approvals it needs now
    required: int
    # How many approvals it has; a change of the run voids earlier ones
    given: int
    # Of what is approved: job version, document, parameters, targets in order, rollout and window
    digest: str
    # Why you cannot approve or deny it; null if you can. SCOPE: your key lacks APPROVE; INVOLVED: you have
    # created, changed or fired the run, or changed what it depends on; DECIDED: your approval already counts
    blockedBecause: Optional[Literal["SCOPE", "INVOLVED", "DECIDED"]]


class Bridge(TypedDict):
    bridgeName: str
    # `connecting`: no attempt has failed yet. `down`: it is not connected; the service retries. `unknown`: no
    # node has reported for 5 seconds, for example because another one is taking over
    state: Literal["connected", "connecting", "down", "unknown"]
    # When it was last connected or disconnected, at the earliest when the node that runs the bridge took
    # over. Null if unknown
    since: Optional[str]
    # The last error, kept after the bridge has recovered: of the connection, the sign-in, a subscription, or
    # a message or event that the broker rejected. Null if there was none since the node runs the bridge
    lastError: Optional[str]
    lastErrorAt: Optional[str]
    # How long the oldest request that is not yet on disk has been waiting, in milliseconds
    lagMs: int
    # Devices that sent a message over it within `bridge-silence`, since the node runs the bridge
    devicesOnline: int
    # Messages that have not been sent to the broker yet
    waiting: int
    # Messages from the broker since the node runs the bridge
    received: int
    # Messages to the broker since the node runs the bridge
    sent: int
    # Responses that were dropped because the broker is too slow
    dropped: int
    # Null if the bridge publishes no events
    events: Optional[BridgeEvents]
    # With several nodes: the node that runs the bridge. Its connections to PostgreSQL are called `jobcast
    # node <nodeNo>`. Null with one node, or if unknown
    nodeNo: Optional[int]
    # When the node that runs the bridge reported this, except `events.cursor`, which is always current: up to
    # 5 seconds ago if another node responds. Null if unknown
    asOf: Optional[str]


class BridgeEvents(TypedDict):
    # The topic on which events are published
    topic: str
    # The event up to which the broker has acknowledged them; null if none has been published yet
    cursor: Optional[int]
    # Since when the broker has rejected the next event, which is retried until it is accepted; null while
    # events are accepted
    failingSince: Optional[str]
    # Events that were skipped because they are too large for the broker, since the node runs the bridge
    leftOut: int


class Budget(TypedDict):
    """How many executions may be released and not ended at once on devices with the same value of an
    attribute. Each device without it is a value of its own.
    """

    # The name of an attribute; own.site is that of the owner, reported.site that of the device
    by: str
    max: int


class ChangeRunRollout(TypedDict, total=False):
    """A merge patch (RFC 7396): omitted fields keep their value, null removes a field, lists are replaced."""

    order: Optional[Literal["RANDOM", "GIVEN"]]
    waves: Optional[List[RolloutWave]]
    ratePerMinute: Optional[int]
    growth: Optional[ChangeRunRolloutGrowth]
    maxUnderWay: Optional[int]
    budget: Optional[ChangeRunRolloutBudget]
    next: Optional[ChangeRunRolloutNext]
    stop: Optional[List[RolloutStop]]


class ChangeRunRolloutBudget(TypedDict, total=False):
    by: Optional[str]
    max: Optional[int]


class ChangeRunRolloutGrowth(TypedDict, total=False):
    factor: Optional[float]
    afterSucceeded: Optional[int]


class ChangeRunRolloutNext(TypedDict, total=False):
    succeededPercent: Optional[float]
    where: Optional[str]
    onMissing: Optional[Literal["REFUSE", "WAIT"]]
    soakSeconds: Optional[int]
    action: Optional[Literal["CONTINUE", "PAUSE", "APPROVAL"]]
    giveUpAfterSeconds: Optional[int]


class CreatedApiKey(TypedDict):
    keyId: str
    keyName: str
    ownerId: str
    scopes: List[Scope]
    # The jobs it is restricted to; null: all
    jobs: Optional[List[str]]
    # The selector of the devices it is restricted to; null: all
    where: Optional[str]
    # The addresses it may be used from; null: any
    addresses: Optional[List[str]]
    expiresAt: Optional[str]
    createdAt: str
    revokedAt: Optional[str]
    # Accurate to a few seconds; null if never used
    lastUsedAt: Optional[str]
    # Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the
    # machine of the service. Null if it is older than this field
    createdBy: Optional[str]
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]
    # The session in which the key created it; null if the key was used directly
    createdBySession: Optional[str]
    # The key itself. It is shown only once
    apiKey: str


class CreatedEnrollment(TypedDict):
    enrollmentId: str
    name: Optional[str]
    maxUses: int
    # How many devices have enrolled
    used: int
    tags: List[str]
    deviceIdPrefix: Optional[str]
    expiresAt: str
    createdAt: str
    revokedAt: Optional[str]
    # Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the
    # machine of the service. Null if it is older than this field
    createdBy: Optional[str]
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]
    # The session in which the key created it; null if the key was used directly
    createdBySession: Optional[str]
    # The token devices enroll with. It is shown only once
    enrollmentToken: str


class CreatedWebhook(TypedDict):
    """Created."""

    webhookName: str
    # All of it for keys with the scope `MANAGE`; for others only the scheme and host
    url: str
    eventTypes: List[str]
    jobName: Optional[str]
    deviceId: Optional[str]
    # `jobcast`: the event. `cloudevents`: the event as a CloudEvent 1.0. `slack` and `teams`: one sentence
    # for people with a link to the console; executions are reported with their run, once it has finished
    format: Literal["jobcast", "slack", "teams", "cloudevents"]
    # The jobs that its events are restricted to, as the key that created it was; null: all. Cannot be changed
    jobs: Optional[List[str]]
    # The selector of the devices that its events are restricted to, as the key that created it was; null:
    # all. Cannot be changed
    where: Optional[str]
    state: Literal["ACTIVE", "PAUSED"]
    # `owner`: by an API call. `gone`: the receiver responded with 410. `failing`: no delivery succeeded for a
    # day
    pausedBecause: Optional[Literal["owner", "gone", "failing"]]
    pausedAt: Optional[str]
    # Last successful delivery
    lastDeliveredAt: Optional[str]
    # Since when deliveries fail; null while they succeed
    failingSince: Optional[str]
    # The last unsuccessful attempt of any event: its status and error as in the delivery log. It is kept when
    # later events are accepted
    lastFailure: Optional[WebhookFailure]
    createdAt: str
    updatedAt: str
    # Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the
    # machine of the service. Null if it is older than this field
    createdBy: Optional[str]
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]
    # The session in which the key created it; null if the key was used directly
    createdBySession: Optional[str]
    # Signing secret. It is shown only once
    secret: str


class Delivery(TypedDict):
    eventId: int
    type: str
    state: Literal["PENDING", "DELIVERED", "FAILED"]
    # Oldest first
    attempts: List[DeliveryAttempt]
    nextAttemptAt: Optional[str]


class DeliveryAttempt(TypedDict):
    at: str
    # HTTP status; null if there was no response
    status: Optional[int]
    # Why the attempt failed, with the first 200 characters of the response; null if it succeeded. `could not
    # connect` if the host name does not resolve, has no permitted address, or refuses connections: the log of
    # the service has the reason
    error: Optional[str]
    # Duration in milliseconds; rounded up to whole seconds if there was no connection
    ms: int


class Device(TypedDict):
    deviceId: str
    deviceName: str
    tags: List[str]
    # Attributes that its owner has set
    attributes: Dict[str, Union[str, float, bool]]
    # Attributes that it has reported itself; for equal names the owner's value takes precedence
    reportedAttributes: Dict[str, Union[str, float, bool]]
    # Time zone set by its owner; null: the time zone it reports, otherwise UTC
    timeZone: Optional[str]
    # Window of the device itself; windows of its groups apply as well
    window: Optional[str]
    # When its current token was created; null if it has none
    credentialCreatedAt: Optional[str]
    # Who created its current token: `key:<keyId>` or `enrollment:<enrollmentId>`. Null if it has none, or if
    # this was not recorded
    credentialCreatedBy: Optional[str]
    # The name of the key, the person or the enrollment in `credentialCreatedBy`; null if it has none, or is a
    # key of another owner
    credentialCreatedByName: Optional[str]
    # Since when client certificates of this device are rejected. A new token does not change it; POST
    # …/allow-certificate does
    certificateRevokedAt: Optional[str]
    online: bool
    # Start of the current online or offline period; null if it never connected
    since: Optional[str]
    # When it last sent anything
    lastSeenAt: Optional[str]
    # Transport by which the device is, or was last, connected
    transport: Optional[Literal["mqtt", "websocket", "http", "bridge"]]
    createdAt: str
    updatedAt: str


class DeviceCount(TypedDict):
    # How many devices match
    total: int
    # How many of them are online
    online: int
    # How many of them are running an execution
    busy: int
    # Attributes that the selector names and that no device has
    unknownNames: List[str]
    # deviceIds of the first 20
    sample: List[str]


class DeviceCredential(TypedDict):
    deviceId: str
    # The token. It is shown only once and replaces the previous one
    deviceToken: str


class _DeviceEventDataAlways(TypedDict):
    deviceId: str


class DeviceEventData(_DeviceEventDataAlways, total=False):
    """`deviceName`, `tags`, `attributes` and `window` with `device.created` and `device.updated`;
    `reportedAttributes` alone with `device.updated` when the device has reported them; `transport` with
    `device.online` and `device.offline`.
    """

    deviceName: str
    tags: List[str]
    # Attributes that its owner has set, with its time zone as `timeZone`; absent: none
    attributes: Dict[str, Union[str, float, bool]]
    # Window of the device itself; absent: none
    window: str
    # Attributes that the device has reported and that have changed; null: removed
    reportedAttributes: Dict[str, Optional[Union[str, float, bool]]]
    # Transport by which the device connected or disconnected
    transport: str


class DevicesChanged(TypedDict):
    # How many devices were selected
    matched: int
    # How many of them were changed
    changed: int
    # Devices that were not changed because they would exceed a limit; at most 1,000 are listed
    failed: List[DevicesChangedFailed]
    # How many devices failed
    failedTotal: int


class DevicesChangedFailed(TypedDict):
    deviceId: str
    code: str
    message: str


class Enrollment(TypedDict):
    enrollmentId: str
    name: Optional[str]
    maxUses: int
    # How many devices have enrolled
    used: int
    tags: List[str]
    deviceIdPrefix: Optional[str]
    expiresAt: str
    createdAt: str
    revokedAt: Optional[str]
    # Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the
    # machine of the service. Null if it is older than this field
    createdBy: Optional[str]
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]
    # The session in which the key created it; null if the key was used directly
    createdBySession: Optional[str]


class EnrollmentEventData(TypedDict):
    """Never its token."""

    enrollmentId: str
    name: Optional[str]
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class Event(TypedDict):
    # Always increasing, below 2^53; ids may have gaps
    eventId: int
    type: EventType
    timestamp: str
    data: EventData


EventData = Union[
    "RunEventData",
    "ExecutionEventData",
    "DeviceEventData",
    "FleetEventData",
    "JobEventData",
    "GroupEventData",
    "WindowEventData",
    "SecretEventData",
    "FileEventData",
    "ScheduleEventData",
    "KeyEventData",
    "EnrollmentEventData",
    "WebhookEventData",
    "SessionEventData",
    "AuditEventData",
    "OwnerEventData",
]


EventPattern = Literal[
    "run.*",
    "execution.*",
    "device.*",
    "fleet.*",
    "job.*",
    "group.*",
    "window.*",
    "secret.*",
    "file.*",
    "schedule.*",
    "key.*",
    "enrollment.*",
    "webhook.*",
    "session.*",
    "audit.*",
    "owner.*",
    "run.created",
    "run.finished",
    "run.released",
    "run.changed",
    "run.paused",
    "run.resumed",
    "run.awaiting_approval",
    "run.approved",
    "run.denied",
    "run.aborted",
    "execution.in_progress",
    "execution.progress",
    "execution.succeeded",
    "execution.failed",
    "execution.rejected",
    "execution.timed_out",
    "execution.expired",
    "execution.canceling",
    "execution.canceled",
    "execution.pending",
    "device.created",
    "device.updated",
    "device.deleted",
    "device.online",
    "device.offline",
    "device.credential_set",
    "device.credential_revoked",
    "device.certificate_allowed",
    "fleet.frozen",
    "fleet.unfrozen",
    "job.changed",
    "job.deleted",
    "group.changed",
    "group.deleted",
    "window.changed",
    "window.deleted",
    "secret.changed",
    "secret.deleted",
    "file.created",
    "file.deleted",
    "schedule.changed",
    "schedule.deleted",
    "schedule.fired",
    "schedule.missed",
    "schedule.paused",
    "schedule.resumed",
    "key.created",
    "key.revoked",
    "enrollment.created",
    "enrollment.revoked",
    "webhook.created",
    "webhook.updated",
    "webhook.deleted",
    "session.signed_in",
    "session.signed_out",
    "audit.sealed",
    "owner.created",
]


EventType = Literal[
    "run.created",
    "run.finished",
    "run.released",
    "run.changed",
    "run.paused",
    "run.resumed",
    "run.awaiting_approval",
    "run.approved",
    "run.denied",
    "run.aborted",
    "execution.in_progress",
    "execution.progress",
    "execution.succeeded",
    "execution.failed",
    "execution.rejected",
    "execution.timed_out",
    "execution.expired",
    "execution.canceling",
    "execution.canceled",
    "execution.pending",
    "device.created",
    "device.updated",
    "device.deleted",
    "device.online",
    "device.offline",
    "device.credential_set",
    "device.credential_revoked",
    "device.certificate_allowed",
    "fleet.frozen",
    "fleet.unfrozen",
    "job.changed",
    "job.deleted",
    "group.changed",
    "group.deleted",
    "window.changed",
    "window.deleted",
    "secret.changed",
    "secret.deleted",
    "file.created",
    "file.deleted",
    "schedule.changed",
    "schedule.deleted",
    "schedule.fired",
    "schedule.missed",
    "schedule.paused",
    "schedule.resumed",
    "key.created",
    "key.revoked",
    "enrollment.created",
    "enrollment.revoked",
    "webhook.created",
    "webhook.updated",
    "webhook.deleted",
    "session.signed_in",
    "session.signed_out",
    "audit.sealed",
    "owner.created",
]


class ExchangedToken(TypedDict):
    # Send it as X-API-Key
    access_token: str
    issued_token_type: Literal["urn:ietf:params:oauth:token-type:access_token"]
    token_type: Literal["N_A"]
    # Seconds
    expires_in: int


ExecState = Literal[
    "PENDING",
    "IN_PROGRESS",
    "CANCELING",
    "SUCCEEDED",
    "FAILED",
    "TIMED_OUT",
    "REJECTED",
    "EXPIRED",
    "CANCELED",
]


class Execution(TypedDict):
    # Identifies the execution; always increasing, below 2^53
    jobExecutionId: int
    jobName: str
    deviceId: str
    # The name the device had when the job was triggered
    deviceName: str
    execState: ExecState
    # UTC in whole seconds, without offset
    launchedAt: str
    # The run (trigger call) this execution belongs to
    runId: int
    # Of the pending executions of a device, those with a higher priority are offered first
    priority: int
    attempt: int
    # Increases by one with every change
    versionNumber: int
    startedAt: Optional[str]
    finishedAt: Optional[str]
    # When it was first sent to the device
    notifiedAt: Optional[str]
    # When the device acknowledged it
    deliveredAt: Optional[str]
    # It is not offered to the device before this: it waits for a retry, or the device said not now
    notBefore: Optional[str]
    statusDetails: Dict[str, str]
    # Result reported by the device; null until then
    result: Any
    # Bytes of output stored
    outputBytes: int
    # The output was longer than what is stored
    outputCut: bool


_ExecutionEventDataWords = TypedDict("_ExecutionEventDataWords", {
    "from": "ExecState",
})


class ExecutionEventData(_ExecutionEventDataWords):
    jobExecutionId: int
    runId: int
    jobName: str
    deviceId: str
    execState: ExecState
    attempt: int
    # Version after this change
    versionNumber: int
    # What caused the change, as in the history
    cause: str
    # Who caused it: `key <keyId>`, `device` or `clock`
    actor: str
    # Details the device reported with this change
    statusDetails: Dict[str, str]


class Explanation(TypedDict):
    # Identifies the execution; always increasing, below 2^53
    jobExecutionId: int
    execState: ExecState
    code: ExplanationCode
    # A sentence or two for a person; the wording may change
    text: str
    # Since when
    since: Optional[str]
    # When this changes on its own
    until: Optional[str]
    # While it is pending: when it ends on its own if its device does not start it, by `expireAfterSeconds` or
    # `deadlineSeconds`. Neither runs while a window or a freeze holds it back. Null if it does not end, or if
    # this cannot be known
    expiresAt: Optional[str]
    # jobExecutionId of the execution the device must finish first
    behind: Optional[int]


ExplanationCode = Literal[
    "NOT_RELEASED",
    "RELEASE_FAILING",
    "RUN_PAUSED",
    "AWAITING_APPROVAL",
    "SCHEDULED",
    "FROZEN",
    "OUTSIDE_WINDOW",
    "WAITING_FOR_RETRY",
    "NOT_NOW",
    "DEVICE_NEVER_CONNECTED",
    "DEVICE_OFFLINE",
    "BEHIND_EXECUTION",
    "NOT_NOTIFIED_YET",
    "NOTIFIED",
    "DELIVERED",
    "RUNNING",
    "TIMER_FAILING",
    "CANCEL_REQUESTED",
    "ENDED",
]


class Failing(TypedDict):
    since: str
    # How many tries in a row have failed; up to 10 seconds old
    times: int
    # Why the last one failed; its wording may change
    message: str


class _FileEventDataAlways(TypedDict):
    fileName: str
    version: str
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class FileEventData(_FileEventDataAlways, total=False):
    """`size` and `sha256` with `file.created`."""

    # In bytes
    size: int
    sha256: str


class _FileReferenceAlways(TypedDict):
    # Where devices fetch the content
    url: str
    # In bytes
    size: int
    sha256: str


class FileReference(_FileReferenceAlways, total=False):
    sha1: str
    md5: str


class FileUpload(TypedDict):
    """More is missing."""

    fileName: str
    version: str
    # Size of the whole content, in bytes
    size: int
    # How many bytes have been received: the upload continues at this byte
    received: int
    # When the received part is deleted, unless more arrives
    expiresAt: str


class FileVersion(TypedDict):
    fileName: str
    version: str
    # Whether it was uploaded last: documents that name no version use it
    isNewest: bool
    # In bytes
    size: int
    sha256: str
    sha1: Optional[str]
    md5: Optional[str]
    url: Optional[str]
    createdAt: str
    # Who uploaded it: `key:<keyId>`, or `user:<subject>` for a person
    createdBy: str
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]
    # What uses it: `job:<jobName>` if its current version does, `schedule:<scheduleName>`, and `run:<runId>`
    # of unfinished runs; at most 20 of each kind
    usedBy: List[str]


class Fleet(TypedDict):
    devices: FleetDevices
    # Executions that are PENDING
    waiting: int
    # Executions that are IN_PROGRESS or CANCELING
    running: int
    # Executions that ended in the last hour, accurate to five minutes
    lastHour: FleetLastHour
    # The oldest PENDING execution
    oldestWaiting: Optional[FleetOldestWaiting]
    history: FleetHistory


class FleetDevice(TypedDict):
    deviceId: str
    online: bool
    # The most recently launched execution
    lastExecution: Optional[FleetDeviceLastExecution]
    # The most recently launched execution of those that have ended
    lastEnded: Optional[FleetDeviceLastExecution]
    # What the device is working on: an execution that is IN_PROGRESS or CANCELING
    running: Optional[FleetDeviceLastExecution]


class FleetDeviceLastExecution(TypedDict):
    jobExecutionId: int
    execState: ExecState


class FleetDevices(TypedDict):
    total: int
    online: int


class FleetEventData(TypedDict):
    # Why it was frozen
    reason: str
    # When it ends automatically
    until: Optional[str]
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class FleetGroups(TypedDict):
    # When the devices were counted
    asOf: str
    # What they are counted by, as in the request
    by: str
    # All devices
    all: FleetGroupsAll
    # The largest first; a device with several tags or groups counts in each
    groups: List[FleetGroupsGroup]
    # Smaller groups that were left out
    otherGroups: int


class FleetGroupsAll(TypedDict):
    """All devices."""

    devices: int
    online: int
    # Devices by state: that of the execution a device works on, else of its most recently launched one; while
    # that is PENDING and the one before has failed, that of the failed one; NONE if it never had one
    states: FleetGroupsAllStates


class FleetGroupsAllStates(TypedDict, total=False):
    """Devices by state: that of the execution a device works on, else of its most recently launched one;
    while that is PENDING and the one before has failed, that of the failed one; NONE if it never had one.
    """

    NONE: int
    PENDING: int
    IN_PROGRESS: int
    CANCELING: int
    SUCCEEDED: int
    FAILED: int
    TIMED_OUT: int
    REJECTED: int
    EXPIRED: int
    CANCELED: int


class _FleetGroupsGroupAlways(TypedDict):
    # A tag, the name of a group, or the value of the attribute; null: the devices without one, of groups
    # those in none of the groups that are counted
    value: Optional[str]
    devices: int
    online: int
    # Devices by state: that of the execution a device works on, else of its most recently launched one; while
    # that is PENDING and the one before has failed, that of the failed one; NONE if it never had one
    states: FleetGroupsAllStates


class FleetGroupsGroup(_FleetGroupsGroupAlways, total=False):
    # The value, if they are counted by tag
    tag: Optional[str]


_FleetHistoryWords = TypedDict("_FleetHistoryWords", {
    # Start of the first step
    "from": "str",
})


class FleetHistory(_FleetHistoryWords):
    """Up to one day; less if events are retained for less time, or if there are very many."""

    # Length of a step; the last step is still open
    stepSeconds: int
    # PENDING executions at the end of each step
    waiting: List[int]
    # IN_PROGRESS or CANCELING executions at the end of each step
    running: List[int]
    # Executions that ended SUCCEEDED in each step
    succeeded: List[int]
    # Executions that ended FAILED, TIMED_OUT, REJECTED or EXPIRED in each step
    failed: List[int]


class FleetLastHour(TypedDict):
    """Executions that ended in the last hour, accurate to five minutes."""

    succeeded: int
    failed: int


class FleetOldestWaiting(TypedDict):
    jobExecutionId: int
    runId: int
    jobName: str
    deviceId: str
    # UTC in whole seconds, without offset
    launchedAt: str


class Freeze(TypedDict):
    """All fields but `frozen` are null while it is not frozen."""

    frozen: bool
    reason: Optional[str]
    # Who did it: `key:<keyId>`, or `user:<subject>` for a person
    frozenBy: Optional[str]
    # The name of the key or the person in `frozenBy`; null if it is neither, or a key of another owner
    frozenByName: Optional[str]
    since: Optional[str]
    # When it ends automatically
    until: Optional[str]


class GateProgress(TypedDict):
    # How many devices of the wave it judges: all but those whose failures a resume has accepted, and those
    # canceled before the wave started
    size: int
    # How many of them must succeed, and report `next.where` if it is given
    needed: int
    # How many have done so
    succeeded: int
    # How many still can at most
    possible: int
    # How many released devices of the wave have not finished and are not connected
    offline: int
    # When its soak time ends; null while another condition of the gate is not met
    opensAt: Optional[str]


class Group(TypedDict):
    groupName: str
    where: str
    description: Optional[str]
    # Window of the devices of the group
    window: Optional[str]
    createdAt: str
    updatedAt: str
    # Who created it: `key:<keyId>`, or `user:<subject>` for a person. Null if it is older than this field
    createdBy: Optional[str]
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]
    # Who put it last: `key:<keyId>`, or `user:<subject>` for a person. Null if it is older than this field
    updatedBy: Optional[str]
    # The name of the key or the person in `updatedBy`; null if it is neither, or a key of another owner
    updatedByName: Optional[str]


class _GroupEventDataAlways(TypedDict):
    groupName: str
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class GroupEventData(_GroupEventDataAlways, total=False):
    """`isNew` with `group.changed`."""

    # Whether it was created by this change
    isNew: bool


class History(TypedDict):
    # Oldest first
    items: List[Transition]


class _ImportResultAlways(TypedDict):
    created: int
    updated: int
    unchanged: int
    # Lines that were not stored, at most 10,000 of them
    failed: List[ImportResultFailed]
    # How many lines failed
    failedTotal: int


class ImportResult(_ImportResultAlways, total=False):
    # With `dryRun`: values of existing devices that would change or be removed, at most 100 fields
    overwritten: List[ImportResultOverwritten]


class ImportResultFailed(TypedDict):
    # Counted from 1
    line: int
    code: str
    message: str


class ImportResultOverwritten(TypedDict):
    # A field of devices, or attributes.NAME
    field: str
    # How many devices lose the value that they have
    devices: int
    example: ImportResultOverwrittenExample


class ImportResultOverwrittenExample(TypedDict):
    deviceId: str
    before: str
    # Null: it is removed
    after: Optional[str]


class _ImportedDeviceAlways(TypedDict):
    deviceId: str


class ImportedDevice(_ImportedDeviceAlways, total=False):
    deviceName: str
    tags: List[str]
    # Names of 1 to 64 letters, digits and _ . -, not beginning with a digit, . or -; values are text of at
    # most 256 characters, numbers, or true and false
    attributes: Dict[str, Union[str, float, bool]]
    timeZone: Optional[str]
    # Name of a window: the device is offered work only while it is open
    window: Optional[str]


class Job(TypedDict):
    jobName: str
    # Numbered from 1; each change of the job creates the next version
    version: int
    description: str
    document: Dict[str, Any]
    # JSON Schema of the parameters of its runs
    parameters: Optional[Dict[str, Any]]
    expireAfterSeconds: Optional[int]
    timeoutSeconds: Optional[int]
    deadlineSeconds: Optional[int]
    retry: Optional[JobRetry]
    rollout: Optional[Rollout]
    approval: Union[bool, JobApproval]
    # The window in which its executions are offered; null: they are offered at any time
    window: Optional[str]
    # Of the pending executions of a device, those with a higher priority are offered first
    priority: int
    # One envelope, or none
    signatures: List[JobEnvelope]
    createdAt: str
    updatedAt: str
    # Who created the current version: `key:<keyId>`, or `user:<subject>` for a person
    updatedBy: Optional[str]
    # The name of the key or the person in `updatedBy`; null if it is neither, or a key of another owner
    updatedByName: Optional[str]


class JobApproval(TypedDict):
    required: int


class JobEnvelope(TypedDict):
    """DSSE envelope with the signatures of the authors of a job, created by `jobcast jobs sign`."""

    payloadType: Literal["application/vnd.jobcast.job+json"]
    # Canonical JSON (RFC 8785) of `jobName`, `version`, `document`, and if there are any `parameters`,
    # `notAfter` and `audience`
    payload: str
    signatures: List[JobEnvelopeSignature]


class _JobEnvelopeSignatureAlways(TypedDict):
    # Ed25519 signature
    sig: str


class JobEnvelopeSignature(_JobEnvelopeSignatureAlways, total=False):
    # A hint: SHA-256 of the public key (DER) in hex. Only devices know which keys to trust
    keyid: str


class _JobEventDataAlways(TypedDict):
    jobName: str
    # The current version; of a deleted job, the last one
    version: int
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class JobEventData(_JobEventDataAlways, total=False):
    """`isNew` with `job.changed`."""

    # Whether it was created by this change
    isNew: bool


class JobRetry(TypedDict):
    max: int
    backoffSeconds: int
    on: List[Literal["FAILED", "TIMED_OUT"]]


class JobVersion(TypedDict):
    jobName: str
    version: int
    # New runs use it, unless they name another one
    isCurrent: bool
    description: str
    document: Dict[str, Any]
    # JSON Schema of the parameters of its runs
    parameters: Optional[Dict[str, Any]]
    expireAfterSeconds: Optional[int]
    timeoutSeconds: Optional[int]
    deadlineSeconds: Optional[int]
    retry: Optional[JobRetry]
    rollout: Optional[Rollout]
    approval: Union[bool, JobApproval]
    # The window in which its executions are offered; null: they are offered at any time
    window: Optional[str]
    # Of the pending executions of a device, those with a higher priority are offered first
    priority: int
    # One envelope, or none
    signatures: List[JobEnvelope]
    createdAt: str
    # Who created it: `key:<keyId>`
    createdBy: Optional[str]
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]


class KeyEventData(TypedDict):
    """Never the key itself."""

    keyId: str
    keyName: str
    scopes: List[Scope]
    expiresAt: Optional[str]
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class LivezResult(TypedDict):
    status: Literal["ok"]


class Occurrence(TypedDict):
    at: str
    # The same instant in the schedule's time zone
    local: str


class OwnKey(TypedDict):
    keyId: str
    keyName: str
    ownerId: str
    scopes: List[Scope]
    # The jobs it is restricted to; null: all
    jobs: Optional[List[str]]
    # The selector of the devices it is restricted to; null: all
    where: Optional[str]
    # The addresses it may be used from; null: any
    addresses: Optional[List[str]]
    expiresAt: Optional[str]
    createdAt: str
    revokedAt: Optional[str]
    # Accurate to a few seconds; null if never used
    lastUsedAt: Optional[str]
    # Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the
    # machine of the service. Null if it is older than this field
    createdBy: Optional[str]
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]
    # The session in which the key created it; null if the key was used directly
    createdBySession: Optional[str]
    # Who acts, as events and `createdBy` name it: `key:<keyId>`, or `user:<subject>` for a person
    principal: str
    # The name of the person, or of the key
    name: str
    # Of a person, if the issuer provides it
    email: Optional[str]
    # The name of the owner that the key or the person acts for
    ownerName: str
    # Names of the owners for which a person has a role; empty for a key
    owners: List[str]


class Owner(TypedDict):
    ownerId: str
    ownerName: str
    createdAt: str


class OwnerEventData(TypedDict):
    """In the log of the owner of the key that created it."""

    ownerId: str
    ownerName: str
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class PauseCause(TypedDict):
    # STOP_RULE; GATE_CLOSED: too many devices of the wave did not succeed; GATE_ACTION: the gate opened, and
    # its action is PAUSE; GATE_TIMEOUT: giveUpAfterSeconds has passed; PRINCIPAL: paused by pausedBy
    rule: PauseCauseRule
    # The current wave then, from 1
    wave: int
    # For a stop rule: its position in rollout.stop, from 1
    stopRule: Optional[int]
    # What the stop rule or the gate counts; SCHEDULE: the runs of its schedule of the last 24 hours
    of: Optional[Literal["RUN", "WAVE", "SCHEDULE"]]
    # The states that the stop rule or the gate counts
    on: List[ExecState]
    # How many have ended in one of these states
    count: Optional[int]
    # How many have ended in total
    ended: Optional[int]
    # count of ended
    percent: Optional[float]
    # Of a closed gate: how many devices of the wave must succeed for it to open
    needed: Optional[int]
    # Of a closed gate: how many of them still can at most
    possible: Optional[int]
    # Some of the executions that the stop rule or the gate counted
    executions: List[PauseCauseExecution]


class PauseCauseExecution(TypedDict):
    jobExecutionId: int
    deviceId: str
    execState: ExecState


PauseCauseRule = Literal[
    "STOP_RULE",
    "GATE_CLOSED",
    "GATE_ACTION",
    "GATE_TIMEOUT",
    "PRINCIPAL",
]


class PausedRun(TypedDict):
    ownerId: str
    runId: int


class PausedSchedule(TypedDict):
    ownerId: str
    scheduleName: str


class _PutJobRetryAlways(TypedDict):
    # Maximum number of retries after the first attempt
    max: int


class PutJobRetry(_PutJobRetryAlways, total=False):
    """Retry policy: when an attempt ends in one of these states, another attempt follows."""

    # Delay before the first retry; default 10. It doubles with every further retry, up to one day, and is
    # shortened by a random share of up to half
    backoffSeconds: int
    # States that are retried; default both
    on: List[Literal["FAILED", "TIMED_OUT"]]


class RevokedKeys(TypedDict):
    """Revoked, with `descendants=true`."""

    # Keys that this call revoked, not counting those revoked before
    revokedKeys: int
    # Enrollments that this call revoked
    revokedEnrollments: int
    # Schedules that this call paused, at most 100
    pausedSchedules: List[PausedSchedule]
    # Runs with startAt that this call paused, at most 100
    pausedRuns: List[PausedRun]
    # More schedules or runs were paused than are listed
    isMore: bool


class Rollout(TypedDict, total=False):
    # The order in which devices are released: RANDOM (default), or GIVEN, that of the call or of deviceIds
    order: Literal["RANDOM", "GIVEN"]
    # Default: one wave
    waves: List[RolloutWave]
    ratePerMinute: int
    # The rate is multiplied by the factor each time this many more executions have succeeded
    growth: RolloutGrowth
    # How many executions may be released and not ended at once
    maxUnderWay: int
    budget: Budget
    next: RolloutNext
    stop: List[RolloutStop]


class RolloutGrowth(TypedDict):
    """The rate is multiplied by the factor each time this many more executions have succeeded."""

    factor: float
    afterSucceeded: int


class RolloutNext(TypedDict, total=False):
    # How many of the devices of the wave must have SUCCEEDED, up to three decimals; default 100. A gate that
    # can no longer open pauses the run
    succeededPercent: float
    # A device counts as succeeded only if what it reports matches this: a bare name means `reported.NAME`
    where: str
    # What follows if no device reports an attribute that `where` names: REFUSE (default) the call, or WAIT
    # until one does
    onMissing: Literal["REFUSE", "WAIT"]
    # How long the other conditions must hold
    soakSeconds: int
    # What happens when the gate opens; default CONTINUE
    action: Literal["CONTINUE", "PAUSE", "APPROVAL"]
    # How long after the start of a wave its gate may stay closed before the run is paused
    giveUpAfterSeconds: int


class RolloutProgress(TypedDict):
    state: RolloutProgressState
    # The current wave, from 1
    wave: int
    waves: List[RolloutProgressWave]
    # How many executions may be offered to their devices
    released: int
    pausedBecause: Optional[str]
    pausedBy: Optional[str]
    # The name of the key or the person in `pausedBy`; null if it is neither, or a key of another owner
    pausedByName: Optional[str]
    # pausedBecause for programs
    pausedCause: Optional[PauseCause]
    # What the gate after the current wave waits for. Null in lists, unless the rollout is ROLLING_OUT or
    # PAUSED, once the gate has opened, and in the last wave, which has none
    gate: Optional[GateProgress]
    # What each rule of `definition.stop` has counted since the run was last resumed, in the same order
    stopRules: List[StopRuleProgress]
    # When it continues automatically, if that is known
    nextAt: Optional[str]
    # It cannot continue and is retried: its writes have failed twice or more in a row
    failing: Optional[Failing]
    definition: Rollout
    # What it waits for while it is AWAITING_APPROVAL
    approval: Optional[AwaitedApproval]


RolloutProgressState = Literal[
    "SCHEDULED",
    "AWAITING_APPROVAL",
    "ROLLING_OUT",
    "PAUSED",
    "RELEASED",
    "DENIED",
    "ABORTED",
]


class RolloutProgressWave(TypedDict):
    size: int
    released: int
    counts: RunCounts
    startedAt: Optional[str]
    # When its gate opened
    passedAt: Optional[str]


class _RolloutStopAlways(TypedDict):
    on: List[RolloutStopOn]


class RolloutStop(_RolloutStopAlways, total=False):
    # Of the executions that have ended, up to three decimals
    percent: float
    # With percent: how many must have ended; default 1
    minEnded: int
    count: int
    # Default PAUSE
    action: Literal["PAUSE", "ABORT"]
    # What is counted: the whole run (default) or the current wave
    of: Literal["RUN", "WAVE"]


RolloutStopOn = Literal[
    "FAILED",
    "TIMED_OUT",
    "REJECTED",
    "EXPIRED",
    "CANCELED",
]


class _RolloutWaveAlways(TypedDict):
    size: Union[int, str]


class RolloutWave(_RolloutWaveAlways, total=False):
    # Only devices that match
    where: str


class RunCounts(TypedDict):
    PENDING: int
    IN_PROGRESS: int
    CANCELING: int
    SUCCEEDED: int
    FAILED: int
    TIMED_OUT: int
    REJECTED: int
    EXPIRED: int
    CANCELED: int


class _RunEventDataAlways(TypedDict):
    runId: int
    jobName: str
    # Number of executions; all start as PENDING
    total: int
    # The run whose unsuccessful executions this run retries
    retryOf: Optional[int]


class RunEventData(_RunEventDataAlways, total=False):
    """`counts` is present in `run.finished` only; `wave` and what follows in events of a rollout only."""

    counts: RunCounts
    # The current wave, from 1
    wave: int
    # How many executions may be offered to their devices by now
    released: int
    because: Optional[str]
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, or `service` where it was a rule or a gate
    principal: str
    comment: str
    # Of `run.approved`: how many more approvals the run needs
    missing: int


class RunFailures(TypedDict):
    # Executions that ended otherwise than SUCCEEDED; those that were canceled before they were sent are not
    # counted
    total: int
    # Most frequent first
    reasons: List[RunFailuresReason]
    # Tags and attributes, as they are now, that the unsuccessful devices have more often than the successful
    # ones, by at least 2 percentage points. At most 20, the largest difference first
    shared: List[RunFailuresShared]


class RunFailuresReason(TypedDict):
    # What the device reported (`statusDetails.reason`, or all status details), otherwise how the execution
    # ended. At most 20 reasons; all others are the last entry, `other reasons`
    reason: str
    count: int
    # deviceIds of up to 20 of them
    sample: List[str]


class RunFailuresShared(TypedDict):
    # `tag`, or the name of an attribute; `reported.NAME` where the value of the owner hides the one that the
    # device reports
    name: str
    value: Union[str, float, bool]
    # How many unsuccessful devices have it
    failed: int
    # How many unsuccessful devices were compared
    ofFailed: int
    # How many successful devices have it
    succeeded: int
    # How many successful devices were compared
    ofSucceeded: int


class RunPlan(TypedDict):
    """The plan, with `dryRun=true`."""

    # Starts the run as it is shown here; valid for 10 minutes
    planId: str
    # How many devices are selected
    total: int
    online: int
    offline: int
    # How many of them are running an execution
    busy: int
    # In the order of release; the run has the same devices in the same waves
    waves: List[RunPlanWave]
    # The document that the first device would get, with secrets masked; null if it cannot be resolved
    document: Any
    # What will hold the run back once it is created
    holds: List[RunPlanHold]
    # What prevents the run, or is probably not what you want, as sentences: also that fewer devices of the
    # first wave are online than its gate needs
    problems: List[str]


class RunPlanHold(TypedDict):
    # As in the explanation of an execution
    code: Literal["SCHEDULED", "AWAITING_APPROVAL", "FROZEN", "OUTSIDE_WINDOW"]
    # The same as a sentence
    text: str
    # When it no longer holds any device back, if that is known
    until: Optional[str]


class RunPlanWave(TypedDict):
    size: int
    # deviceIds of the first 20
    sample: List[str]


_RunTimelineWords = TypedDict("_RunTimelineWords", {
    # When the run was launched
    "from": "str",
})


class RunTimeline(_RunTimelineWords):
    runId: int
    # When it finished, or now
    until: str
    # Length of a bucket; the last one may be shorter
    stepMs: int
    total: int
    # How many executions were read. If fewer than `total`, counts are extrapolated; the last bucket is exact
    sampled: int
    # For each state that occurred: how many executions were in it at the end of each bucket
    counts: RunTimelineCounts


class RunTimelineCounts(TypedDict, total=False):
    """For each state that occurred: how many executions were in it at the end of each bucket."""

    PENDING: List[int]
    IN_PROGRESS: List[int]
    CANCELING: List[int]
    SUCCEEDED: List[int]
    FAILED: List[int]
    TIMED_OUT: List[int]
    REJECTED: List[int]
    EXPIRED: List[int]
    CANCELED: List[int]


_ScheduleWords = TypedDict("_ScheduleWords", {
    "except": "List[str]",
})


class Schedule(_ScheduleWords):
    scheduleName: str
    jobName: str
    targets: Targets
    when: When
    # Version of the job; null: each run uses the current one
    version: Optional[int]
    parameters: Dict[str, Any]
    description: Optional[str]
    rollout: Optional[Rollout]
    approval: Union[bool, JobApproval]
    # Null: the job's, if it has one
    window: Optional[str]
    # Null: the job's
    priority: Optional[int]
    replaces: bool
    overlap: Literal["SKIP", "REPLACE", "QUEUE"]
    catchUpSeconds: int
    jitterSeconds: int
    pauseAfterFailures: Optional[int]
    until: Optional[str]
    paused: bool
    # The reason, as a sentence
    pausedBecause: Optional[str]
    # Who: `key:<keyId>`, `service`, or `stop rule`
    pausedBy: Optional[str]
    # The name of the key or the person in `pausedBy`; null if it is neither, or a key of another owner
    pausedByName: Optional[str]
    pausedAt: Optional[str]
    # pausedBecause for programs; null also if an earlier version has paused it
    pausedCause: Optional[SchedulePause]
    # Its next occurrence, without jitter; null while it is paused, after its end, and with match
    nextAt: Optional[str]
    # The last occurrence that ran
    lastScheduledFor: Optional[str]
    # When that was
    lastFiredAt: Optional[str]
    # The run it created; null: none yet, or there was no device
    lastRunId: Optional[int]
    # How many of its last runs in a row failed
    failures: int
    # It cannot create its run and is retried: this has failed twice or more in a row
    failing: Optional[Failing]
    createdAt: str
    updatedAt: str
    # Who last created, updated or resumed it; its runs count as created by that key
    updatedBy: Optional[str]
    # The name of the key or the person in `updatedBy`; null if it is neither, or a key of another owner
    updatedByName: Optional[str]
    # The state of that key. A schedule belongs to the owner: it continues after its key has expired or was
    # revoked, and is paused when the key is revoked with its descendants
    updatedByState: Optional[Literal["ACTIVE", "EXPIRED", "REVOKED"]]


_ScheduleEventDataOptionalWords = TypedDict("_ScheduleEventDataOptionalWords", {
    "from": "str",
}, total=False)


class _ScheduleEventDataAlways(TypedDict):
    scheduleName: str
    jobName: str
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class ScheduleEventData(_ScheduleEventDataOptionalWords, _ScheduleEventDataAlways, total=False):
    """`scheduledFor`, `runId`, `matched` and `skipped` with `schedule.fired`: without `runId` there was no
    device. `count`, `from` and `to` with `schedule.missed`: the first and the last of the missed
    occurrences. `because` with `schedule.missed` and `schedule.paused`, `rule` with `schedule.paused`.
    `isNew` with `schedule.changed`.
    """

    scheduledFor: str
    runId: Optional[int]
    # How many devices matched
    matched: int
    # How many of them were skipped because they have an unfinished execution
    skipped: int
    # How many occurrences were missed
    count: int
    # More occurrences were missed than were counted
    isMore: bool
    to: str
    because: str
    # STOP_RULE of its rollout, over its runs of the last 24 hours; FAILURES: `pauseAfterFailures` runs in a
    # row; RUN_STOPPED: its last run was aborted or denied; REFUSED: its run cannot be created; JOB_DELETED;
    # KEY_REVOKED with its descendants; PRINCIPAL: paused by pausedBy
    rule: SchedulePauseRule
    # Whether it was created by this change
    isNew: bool


class SchedulePause(TypedDict):
    # STOP_RULE of its rollout, over its runs of the last 24 hours; FAILURES: `pauseAfterFailures` runs in a
    # row; RUN_STOPPED: its last run was aborted or denied; REFUSED: its run cannot be created; JOB_DELETED;
    # KEY_REVOKED with its descendants; PRINCIPAL: paused by pausedBy
    rule: SchedulePauseRule
    # Its position in rollout.stop, from 1
    stopRule: Optional[int]
    # The states that the stop rule counts
    on: List[ExecState]
    # How many executions have ended in one of these states; with FAILURES, how many runs have failed
    count: Optional[int]
    # How many executions have ended in total
    ended: Optional[int]
    # count of ended
    percent: Optional[float]


SchedulePauseRule = Literal[
    "STOP_RULE",
    "FAILURES",
    "RUN_STOPPED",
    "REFUSED",
    "JOB_DELETED",
    "KEY_REVOKED",
    "PRINCIPAL",
]


Scope = Literal[
    "TRIGGER",
    "READ",
    "MANAGE",
    "APPROVE",
    "AUDIT",
    "ADMIN",
]


class Secret(TypedDict):
    secretName: str
    # When the value was set
    updatedAt: str
    # Who set the value: `key:<keyId>`
    updatedBy: str
    # The name of the key or the person in `updatedBy`; null if it is neither, or a key of another owner
    updatedByName: Optional[str]
    # What uses it: `job:<jobName>` if its current version does, `schedule:<scheduleName>`, and `run:<runId>`
    # of unfinished runs; at most 20 of each kind
    usedBy: List[str]


class _SecretEventDataAlways(TypedDict):
    secretName: str
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class SecretEventData(_SecretEventDataAlways, total=False):
    """`isNew` with `secret.changed`. Never the value."""

    # Whether it was created by this change
    isNew: bool


class Session(TypedDict):
    sessionId: str
    # The key it acts for
    keyId: str
    keyName: str
    ownerId: str
    createdAt: str
    # Accurate to a minute
    lastUsedAt: str
    # It ends then at the latest, and earlier if it is not used for `session-idle-timeout`
    expiresAt: str
    # Address of the client that signed in
    address: Optional[str]
    userAgent: Optional[str]
    # Whether this call was made with it
    current: bool


class SessionEventData(TypedDict):
    sessionId: str
    # The key it acts for
    keyId: str
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class SignInTicket(TypedDict):
    # Signs in once, as the key that requested it
    ticket: str
    expiresAt: str


_StatsWords = TypedDict("_StatsWords", {
    "from": "str",
})


class Stats(_StatsWords):
    """An execution counts in the bucket in which it was launched."""

    until: str
    # Length of a bucket; the last one may be shorter
    stepMs: int
    # Later than `from` if there were too many runs to read: what was launched before is not counted
    completeFrom: str
    # How many executions the durations are taken from
    sampled: int
    overall: StatsOverall
    # Oldest first
    buckets: List[StatsBucket]
    # By job, the one with the most executions first; at most 50
    jobs: List[StatsJob]


_StatsBucketWords = TypedDict("_StatsBucketWords", {
    "from": "str",
})


class StatsBucket(_StatsBucketWords):
    # Executions launched
    total: int
    counts: RunCounts
    # SUCCEEDED divided by SUCCEEDED, FAILED, TIMED_OUT and REJECTED; null if there is none of these
    successRate: Optional[float]
    # From start to end of executions that SUCCEEDED; null if there are none in the sample
    durationMs: Optional[StatsOverallDurationMs]


class StatsJob(TypedDict):
    jobName: str
    # Executions launched
    total: int
    counts: RunCounts
    # SUCCEEDED divided by SUCCEEDED, FAILED, TIMED_OUT and REJECTED; null if there is none of these
    successRate: Optional[float]
    # From start to end of executions that SUCCEEDED; null if there are none in the sample
    durationMs: Optional[StatsOverallDurationMs]


class StatsOverall(TypedDict):
    # Executions launched
    total: int
    counts: RunCounts
    # SUCCEEDED divided by SUCCEEDED, FAILED, TIMED_OUT and REJECTED; null if there is none of these
    successRate: Optional[float]
    # From start to end of executions that SUCCEEDED; null if there are none in the sample
    durationMs: Optional[StatsOverallDurationMs]


class StatsOverallDurationMs(TypedDict):
    p50: int
    p95: int


class StopRuleProgress(TypedDict):
    # How many have ended in one of its states
    count: int
    # How many have ended in total
    ended: int


class Targets(TypedDict, total=False):
    """Exactly one of deviceIds, where and group."""

    # A device listed twice gets one execution
    deviceIds: List[str]
    # A selector: an expression that selects devices; at most 4 KiB and 64 terms
    where: str
    # The devices of this group
    group: str


class TicketFacts(TypedDict):
    """The key that a ticket signs in with."""

    keyId: str
    keyName: str
    ownerId: str
    ownerName: str
    expiresAt: str


_TransitionWords = TypedDict("_TransitionWords", {
    # Null for its creation
    "from": "Optional[ExecState]",
})


class Transition(_TransitionWords):
    at: str
    to: ExecState
    # What caused the transition
    event: str
    # Who caused it: `key <keyId>`, `user <subject>` for a person, `device` or `clock`
    actor: str
    # The name of that key or person; null if it was neither
    actorName: Optional[str]
    attempt: int
    # Version after this transition
    versionNumber: int
    # Why the attempt was unsuccessful: the status detail `reason` that the device reported with it, or all
    # details it reported. Null for every other transition
    reason: Optional[str]


class TriggeredExecution(TypedDict):
    # Identifies the execution; always increasing, below 2^53
    jobExecutionId: int
    jobName: str
    deviceId: str
    # The name the device had when the job was triggered
    deviceName: str
    execState: ExecState
    # UTC in whole seconds, without offset
    launchedAt: str


class Version(TypedDict):
    # Version of the program
    version: str
    # Version of the API; increases with a change that breaks clients
    api: int


class Webhook(TypedDict):
    webhookName: str
    # All of it for keys with the scope `MANAGE`; for others only the scheme and host
    url: str
    eventTypes: List[str]
    jobName: Optional[str]
    deviceId: Optional[str]
    # `jobcast`: the event. `cloudevents`: the event as a CloudEvent 1.0. `slack` and `teams`: one sentence
    # for people with a link to the console; executions are reported with their run, once it has finished
    format: Literal["jobcast", "slack", "teams", "cloudevents"]
    # The jobs that its events are restricted to, as the key that created it was; null: all. Cannot be changed
    jobs: Optional[List[str]]
    # The selector of the devices that its events are restricted to, as the key that created it was; null:
    # all. Cannot be changed
    where: Optional[str]
    state: Literal["ACTIVE", "PAUSED"]
    # `owner`: by an API call. `gone`: the receiver responded with 410. `failing`: no delivery succeeded for a
    # day
    pausedBecause: Optional[Literal["owner", "gone", "failing"]]
    pausedAt: Optional[str]
    # Last successful delivery
    lastDeliveredAt: Optional[str]
    # Since when deliveries fail; null while they succeed
    failingSince: Optional[str]
    # The last unsuccessful attempt of any event: its status and error as in the delivery log. It is kept when
    # later events are accepted
    lastFailure: Optional[WebhookFailure]
    createdAt: str
    updatedAt: str
    # Who created it: `key:<keyId>`, `user:<subject>` for a person, or `operator` for what was created on the
    # machine of the service. Null if it is older than this field
    createdBy: Optional[str]
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]
    # The session in which the key created it; null if the key was used directly
    createdBySession: Optional[str]


class _WebhookEventDataAlways(TypedDict):
    webhookName: str
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class WebhookEventData(_WebhookEventDataAlways, total=False):
    """`change` with `webhook.updated`. Never its URL or its secret."""

    change: WebhookEventDataChange


WebhookEventDataChange = Literal[
    "content",
    "secret",
    "paused",
    "resumed",
    "replayed",
]


class WebhookFailure(TypedDict):
    at: str
    # HTTP status; null if there was no response
    status: Optional[int]
    error: str


class WebhookSecret(TypedDict):
    webhookName: str
    # The new secret. It is shown only once; for 24 hours the previous secret signs as well
    secret: str


class WebhookTestResult(TypedDict):
    # HTTP status; null if there was no response
    status: Optional[int]
    # Why the attempt failed, with the first 200 characters of the response; null if it succeeded. `could not
    # connect` if the host name does not resolve, has no permitted address, or refuses connections: the log of
    # the service has the reason
    error: Optional[str]
    # Duration in milliseconds; rounded up to whole seconds if there was no connection
    ms: int


class When(TypedDict, total=False):
    """Exactly one of cron, at and match."""

    # Five fields: minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly (on Sunday),
    # @monthly. An occurrence at a skipped local time runs at the first instant after the gap; one at a local
    # time that occurs twice runs once
    cron: str
    # With cron: an IANA time zone; default UTC
    timeZone: str
    # Once, at this instant
    at: str
    # For every device that matches, now or as soon as it starts to match: once, unless `again` says otherwise
    match: Literal[True]
    # With match: ON_NEW_VERSION gives each device every new version of the job once; WHILE_MATCHING gives a
    # device that still matches after its execution has ended another one, after a back-off. By default, once
    # per device
    again: Literal["ON_NEW_VERSION", "WHILE_MATCHING"]
    # With again or onLeave: how long after its execution has ended a device gets the next one; doubled each
    # time, up to a day, until it no longer matches. Default 60
    backOffSeconds: int
    # With match: cancel the pending execution of a device that no longer matches, with the cause
    # `no-longer-matching`
    onLeave: Literal["CANCEL"]


_WindowWords = TypedDict("_WindowWords", {
    "except": "List[str]",
})


class Window(_WindowWords):
    windowName: str
    cron: str
    durationMinutes: int
    # An IANA time zone, or `device`
    timeZone: str
    cutoffMinutes: int
    createdAt: str
    updatedAt: str
    # Who created it: `key:<keyId>`, or `user:<subject>` for a person. Null if it is older than this field
    createdBy: Optional[str]
    # The name of the key or the person in `createdBy`; null if it is neither, or a key of another owner
    createdByName: Optional[str]
    # Who put it last: `key:<keyId>`, or `user:<subject>` for a person. Null if it is older than this field
    updatedBy: Optional[str]
    # The name of the key or the person in `updatedBy`; null if it is neither, or a key of another owner
    updatedByName: Optional[str]


class _WindowEventDataAlways(TypedDict):
    windowName: str
    # Who did it: `key:<keyId>`, `user:<subject>` for a person, `operator`, or `service`
    principal: str


class WindowEventData(_WindowEventDataAlways, total=False):
    """`isNew` with `window.changed`."""

    # Whether it was created by this change
    isNew: bool


class WindowOpening(TypedDict):
    # When it opens, or has opened
    at: str
    # The same instant in the zone
    local: str
    # Nothing new is offered after this: `until` minus the cutoff
    offersUntil: str
    # When it closes
    until: str
    # The same instant in the zone
    localUntil: str


class WindowTimes(TypedDict):
    # The zone for which these are
    timeZone: str
    # The first one may already be open
    items: List[WindowOpening]


class JobcastClientError(Exception):
    """All errors of this client."""


class JobcastError(JobcastClientError):
    """The service rejected the call; `code` says why, see docs/errors.md. `problem` is the body of the response."""

    def __init__(self, status: int, problem: Dict[str, Any], retry_after: Optional[float] = None):
        self.status = status
        self.code: str = problem["code"]
        self.message: str = problem.get("title") or problem.get("message") or f"error {self.code}"
        self.detail: Optional[str] = problem.get("detail")
        self.field: Optional[str] = problem.get("field")
        self.device_ids: Optional[List[str]] = problem.get("deviceIds")
        self.request_id: Optional[str] = problem.get("requestId")
        self.retry_after = retry_after
        self.problem = problem
        super().__init__(f"{self.code}: {self.detail or self.message}")


class UnexpectedAnswer(JobcastClientError):
    """The answer is not from Jobcast, but from a proxy or another service at this address."""

    def __init__(self, message: str, status: int, retry_after: Optional[float] = None):
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class NoAnswer(JobcastClientError, ConnectionError):
    """No answer, or an incomplete one. `__cause__` is the error of the connection."""

    was_sent = True


class WaitTimeout(JobcastClientError, TimeoutError):
    """The run had not finished within the time limit; it continues. `run` is the run as last read."""

    def __init__(self, run: Run, timeout: float):
        super().__init__(f"run {run.run_id} had not finished after {timeout:g} s")
        self.run = run


class Page(NamedTuple):
    """One page of a list; `next_cursor` is None on the last."""

    items: List[Any]
    next_cursor: Optional[str]


class Listing(Generic[T]):
    """A list: all items in a `for` loop, fetched page by page, or one `page()`."""

    def __init__(self, fetch: Callable[[Optional[str]], Page], cursor: Optional[str]):
        self._fetch = fetch
        self._cursor = cursor

    def __iter__(self) -> Iterator[T]:
        page = self.page()
        yield from page.items
        while page.next_cursor is not None:
            page = self._fetch(page.next_cursor)
            yield from page.items

    def page(self) -> Page:
        """The page at `cursor`, by default the first."""
        return self._fetch(self._cursor)


class Content:
    """A response that is not JSON: loop over its bytes as they arrive, or read them whole."""

    def __init__(self, response: http.client.HTTPResponse, what: str):
        self._response = response
        self._what = what
        self.headers: Mapping[str, str] = response.headers

    def __iter__(self) -> Iterator[bytes]:
        missing = int(self.headers.get("Content-Length", 0))
        with self:
            while True:
                with _connection_errors(self._what):
                    piece = self._response.read1(65536)
                    if not piece and missing > 0:
                        raise ConnectionError("the connection was cut")
                if not piece:
                    return
                missing -= len(piece)
                yield piece

    def read(self) -> bytes:
        return b"".join(self)

    def text(self) -> str:
        return self.read().decode("utf-8", "replace")

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> Content:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Run(Dict[str, Any]):
    """All executions of one trigger: a dict with the fields of the API, and methods for what follows."""

    def __init__(self, jobcast: Jobcast, fields: Mapping[str, Any]):
        super().__init__(fields)
        self._jobcast = jobcast

    @property
    def run_id(self) -> int:
        return self["runId"]

    def wait(
        self, timeout: Optional[float] = None, on_progress: Optional[Callable[[Run], object]] = None
    ) -> Run:
        """Waits until it has finished, however its executions ended, and returns it; needs the scope READ.

        Raises WaitTimeout after `timeout` seconds. `on_progress` is called with the run at the start, and
        whenever its counts or its rollout have changed.
        """
        return self._replace(self._jobcast.wait_for_run(self.run_id, timeout, on_progress))

    def refresh(self) -> Run:
        """Reads it again."""
        return self._replace(self._jobcast.get_run(self.run_id))

    def cancel(self, *, force: Optional[bool] = None) -> Run:
        """Cancels its unfinished executions; with `force` without waiting for devices to confirm."""
        return self._replace(self._jobcast.cancel_run(self.run_id, force=force))

    def executions(
        self, *, exec_state: Union[None, ExecState, Iterable[ExecState]] = None
    ) -> Listing[Execution]:
        """Its executions, newest first."""
        return self._jobcast.list_executions(run_id=self.run_id, exec_state=exec_state, limit=200)

    def unsuccessful(self) -> Listing[Execution]:
        """Those that ended otherwise than SUCCEEDED."""
        return self.executions(exec_state=["FAILED", "TIMED_OUT", "REJECTED", "EXPIRED", "CANCELED"])

    def _replace(self, fields: Mapping[str, Any]) -> Run:
        self.clear()
        self.update(fields)
        return self

    if TYPE_CHECKING:
        @overload
        def __getitem__(self, key: Literal["runId"]) -> int: ...
        @overload
        def __getitem__(self, key: Literal["jobName"]) -> str: ...
        @overload
        def __getitem__(self, key: Literal["version"]) -> int: ...
        @overload
        def __getitem__(self, key: Literal["parameters"]) -> Dict[str, Any]: ...
        @overload
        def __getitem__(self, key: Literal["launchedAt"]) -> str: ...
        @overload
        def __getitem__(self, key: Literal["finishedAt"]) -> Optional[str]: ...
        @overload
        def __getitem__(self, key: Literal["total"]) -> int: ...
        @overload
        def __getitem__(self, key: Literal["counts"]) -> RunCounts: ...
        @overload
        def __getitem__(self, key: Literal["finished"]) -> bool: ...
        @overload
        def __getitem__(self, key: Literal["retryOf"]) -> Optional[int]: ...
        @overload
        def __getitem__(self, key: Literal["rollbackOf"]) -> Optional[int]: ...
        @overload
        def __getitem__(self, key: Literal["createdBy"]) -> Optional[str]: ...
        @overload
        def __getitem__(self, key: Literal["createdByName"]) -> Optional[str]: ...
        @overload
        def __getitem__(self, key: Literal["where"]) -> Optional[str]: ...
        @overload
        def __getitem__(self, key: Literal["matched"]) -> Optional[int]: ...
        @overload
        def __getitem__(self, key: Literal["note"]) -> Optional[str]: ...
        @overload
        def __getitem__(self, key: Literal["scheduleName"]) -> Optional[str]: ...
        @overload
        def __getitem__(self, key: Literal["scheduledFor"]) -> Optional[str]: ...
        @overload
        def __getitem__(self, key: Literal["rollout"]) -> Optional[RolloutProgress]: ...
        @overload
        def __getitem__(self, key: Literal["window"]) -> Optional[str]: ...
        @overload
        def __getitem__(self, key: Literal["approvals"]) -> List[ApprovalDecision]: ...
        @overload
        def __getitem__(self, key: Literal["priority"]) -> int: ...
        @overload
        def __getitem__(self, key: Literal["replaces"]) -> bool: ...
        @overload
        def __getitem__(self, key: str) -> Any: ...
        def __getitem__(self, key: str) -> Any: ...


# Sends requests, repeats them where that is safe, and reads what is answered.


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Following a redirect would send the key to its target."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Call(NamedTuple):
    method: str
    path: str
    query: Mapping[str, Any] = {}
    headers: Mapping[str, Any] = {}
    # JSON, or with `content_type` bytes or a file.
    body: Any = None
    content_type: Optional[str] = None
    accept: str = "application/json, "
    # Idempotent.
    safe: bool = False
    # How many seconds the service may hold its answer.
    hold: Optional[float] = None
    # Where to read what an earlier try of the same call has made of it.
    then: Optional[str] = None
    max_retries: Optional[int] = None

    @property
    def what(self) -> str:
        return f"{self.method} {self.path}"


class _connection_errors:
    """Turns errors of the connection into NoAnswer."""

    def __init__(self, what: str):
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: Optional[BaseException], __: object) -> None:
        if isinstance(error, (urllib.error.HTTPError, JobcastClientError)):
            return
        if isinstance(error, (OSError, http.client.HTTPException)):
            cause = getattr(error, "reason", error)
            answer = NoAnswer(f"no answer to {self._what}: {cause or type(cause).__name__}")
            answer.was_sent = not _never_connected(cause)
            raise answer from error


def _with_all_headers(answer: Any) -> Any:
    """http.client takes headers that were cut for all of them; then what says how long the body is, is missing."""
    headers = answer.headers
    version = getattr(answer if answer.code < 300 else answer.fp, "version", 11)
    is_measured = "Content-Length" in headers or headers.get("Transfer-Encoding") == "chunked"
    if version == 11 and answer.code != 204 and not is_measured:
        answer.close()
        raise ConnectionError("the connection was cut")
    return answer


def _never_connected(cause: object) -> bool:
    if isinstance(cause, (ConnectionRefusedError, socket.gaierror)):
        return True
    return isinstance(cause, OSError) and cause.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH)


def _is_temporary(error: Optional[Exception]) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, NoAnswer):
        return True
    if isinstance(error, (JobcastError, UnexpectedAnswer)) and error.status in (408, 429, 502, 503, 504):
        return True
    # J-502: an earlier copy of this request is still being served.
    return isinstance(error, JobcastError) and error.code == "J-502"


def _may_repeat(error: Exception, safe: bool) -> bool:
    # The service has not processed these.
    if isinstance(error, JobcastError) and (error.status == 429 or error.code in ("J-908", "J-910")):
        return True
    if isinstance(error, NoAnswer) and not error.was_sent:
        return True
    return safe and _is_temporary(error)


def _pause_before(try_no: int, error: Optional[Exception]) -> float:
    """Exponential backoff in seconds; up to half is subtracted as jitter."""
    delay = min(10, 0.2 * 2 ** min(try_no - 1, 10)) * (1 - random.random() / 2)
    return max(delay, min(60, getattr(error, "retry_after", None) or 0))


def _read_error(call: _Call, answer: urllib.error.HTTPError, content: bytes) -> JobcastClientError:
    retry_after = _seconds_of(answer.headers.get("Retry-After"))
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    if isinstance(problem, dict) and isinstance(problem.get("code"), str):
        return JobcastError(answer.code, problem, retry_after)
    what = f"{call.what} was answered with {answer.code} without an error code"
    return UnexpectedAnswer(what, answer.code, retry_after)


def _seconds_of(header: Optional[str]) -> Optional[float]:
    """Seconds or a date; anything else is ignored."""
    if not header:
        return None
    if header.isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _new_request_key() -> str:
    """A UUID of version 7, which begins with the time: the service stores such keys with fewer writes."""
    number = time.time_ns() // 1_000_000 << 80 | 7 << 76 | secrets.randbits(12) << 64
    return str(uuid.UUID(int=number | 2 << 62 | secrets.randbits(62)))


def _path(template: str, *names: Any) -> str:
    for name in names:
        # An empty name or dots would lead to another route.
        if str(name) in ("", ".", ".."):
            raise ValueError(f"{str(name)!r} is not a name")
    return template.format(*(urllib.parse.quote(str(name), safe="") for name in names))


def _query_text(query: Mapping[str, Any]) -> str:
    given = [(name, _query_value(value)) for name, value in query.items() if value is not None]
    return "?" + urllib.parse.urlencode(given) if given else ""


def _query_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ",".join(map(str, value))


def _encode(call: _Call) -> Tuple[Any, Dict[str, str]]:
    if call.body is None:
        return None, {}
    if call.content_type is None:
        return json.dumps(call.body, allow_nan=False).encode(), {"Content-Type": "application/json"}
    if isinstance(call.body, bytes):
        return call.body, {"Content-Type": call.content_type}
    call.body.seek(0, os.SEEK_END)
    size = call.body.tell()
    call.body.seek(0)
    return call.body, {"Content-Type": call.content_type, "Content-Length": str(size)}


class _Transport:
    def __init__(
        self,
        url: Optional[str],
        api_key: Optional[str],
        max_retries: int,
        timeout: float,
        headers: Optional[Mapping[str, str]],
        ssl_context: Optional[ssl.SSLContext],
    ):
        url = url or os.environ.get("JOBCAST_URL")
        api_key = api_key or os.environ.get("JOBCAST_API_KEY")
        if not url or not re.match(r"https?://[^/?#]", url):
            raise ValueError(f"url must be like https://jobcast.example.com, it is {url!r}; or set JOBCAST_URL")
        if not api_key:
            raise ValueError("there is no key: pass api_key, or set JOBCAST_API_KEY")
        self._url = url.rstrip("/")
        self._headers = {"User-Agent": "jobcast-python", "X-API-Key": api_key, **(headers or {})}
        self._max_retries = max_retries
        self._timeout = timeout
        self._opener = urllib.request.build_opener(
            _NoRedirects, urllib.request.HTTPSHandler(context=ssl_context)
        )

    def _value(self, call: _Call) -> Any:
        def read() -> Any:
            with self._open(call) as response, _connection_errors(call.what):
                content = response.read()
            try:
                return json.loads(content) if content else None
            except ValueError:
                raise UnexpectedAnswer(f"{call.what} was not answered with JSON", response.status) from None

        return self._retried(call, read)

    def _content(self, call: _Call) -> Content:
        return self._retried(call, lambda: Content(self._open(call), call.what))

    def _retried(self, call: _Call, act: Callable[[], T]) -> Any:
        max_retries = self._max_retries if call.max_retries is None else call.max_retries
        for try_no in range(1, max_retries + 2):
            try:
                return act()
            except JobcastClientError as error:
                # What an earlier try has done is not done again.
                if try_no > 1 and isinstance(error, JobcastError):
                    if call.method == "DELETE" and error.status == 404 and error.code != "J-901":
                        return None
                    if call.then is not None and error.code == "J-303":
                        return self._value(_Call("GET", call.then, safe=True))
                if try_no > max_retries or not _may_repeat(error, call.safe):
                    raise
                time.sleep(_pause_before(try_no, error))

    def _open(self, call: _Call, timeout: Optional[float] = None) -> http.client.HTTPResponse:
        data, content_headers = _encode(call)
        headers = {"Accept": call.accept + "application/problem+json", **self._headers, **content_headers}
        headers.update({name: str(value) for name, value in call.headers.items() if value is not None})
        url = self._url + call.path + _query_text(call.query)
        request = urllib.request.Request(url, data, headers, method=call.method)
        if timeout is None:
            timeout = self._timeout + (call.hold or 0)
        try:
            with _connection_errors(call.what):
                return _with_all_headers(self._opener.open(request, timeout=timeout))
        except urllib.error.HTTPError as error:
            with error, _connection_errors(call.what):
                content = _with_all_headers(error).read()
            raise _read_error(call, error, content) from None


class Jobcast(_Transport):
    """A client of one service with one key; without arguments from JOBCAST_URL and JOBCAST_API_KEY.

    `max_retries`: how often a call is repeated where that is safe. `timeout`: how many seconds a connection may
    be silent, in addition to the time that a call asks the service to wait. `headers` are sent with every
    request. `ssl_context`: for a certificate authority of your own.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        api_key: Optional[str] = None,
        *,
        max_retries: int = 4,
        timeout: float = 30,
        headers: Optional[Mapping[str, str]] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ):
        super().__init__(url, api_key, max_retries, timeout, headers, ssl_context)

    def __repr__(self) -> str:
        return f"Jobcast({self._url!r})"

    def start_plan(self, plan_id: str) -> Run:
        """Starts exactly what a plan showed, once: whoever starts it again gets the same run.

        Errors: J-505 if the plan is older than 10 minutes, or if something has changed since.
        """
        call = _Call("POST", "/job/api/runs", body={"planId": plan_id}, safe=True, hold=60)
        return self._run(self._value(call))

    def wait_for_run(
        self,
        run_id: int,
        timeout: Optional[float] = None,
        on_progress: Optional[Callable[[Run], object]] = None,
    ) -> Run:
        """Waits until a run has finished; see Run.wait."""
        end = None if timeout is None else time.monotonic() + timeout
        run = self.get_run(run_id)
        seen: Any = None
        failures = 0
        while True:
            facts = (run["counts"], run["rollout"])
            if on_progress and facts != seen:
                on_progress(run)
            seen = facts
            if run["finished"]:
                return run
            left = 60.0 if end is None else end - time.monotonic()
            if left <= 0:
                raise WaitTimeout(run, timeout or 0)
            hold = int(min(1 if on_progress else 60, left))
            if hold == 0:
                time.sleep(left)
            try:
                path = _path("/job/api/runs/{}", run_id)
                call = _Call("GET", path, query={"wait": hold}, safe=True, hold=hold, max_retries=0)
                run = self._run(self._value(call))
                failures = 0
            except JobcastClientError as error:
                # Once the run was read, it may be that the service is upgraded.
                if not _is_temporary(error):
                    raise
                failures += 1
                pause = _pause_before(failures, error)
                time.sleep(pause if end is None else max(0, min(pause, end - time.monotonic())))

    def trigger(
        self,
        job_name: str,
        *,
        device_ids: Optional[List[str]] = None,
        where: Optional[str] = None,
        group: Optional[str] = None,
        version: Optional[int] = None,
        parameters: Optional[Dict[str, Any]] = None,
        on_missing: Optional[Literal["REFUSE", "SKIP"]] = None,
        note: Optional[str] = None,
        rollout: Optional[Rollout] = None,
        approval: Optional[Union[bool, JobApproval]] = None,
        start_at: Optional[str] = None,
        window: Optional[str] = None,
        ignore_windows: Optional[bool] = None,
        replaces: Optional[bool] = None,
        priority: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> Run:
        """Triggers a job on devices: `trigger("restart", device_ids=["kiosk-1"]).wait()`.

        Exactly one of `device_ids`, `where` and `group`. It creates one execution per device, or none at all.
        A lost answer creates nothing twice: each call has an Idempotency-Key.

        Arguments:
            device_ids: A device listed twice gets one execution.
            where: A selector: an expression that selects devices; at most 4 KiB and 64 terms.
            group: The devices of this group.
            version: Version of the job; by default, the current one.
            parameters: Values of the parameters of the job, at most 16 KiB; omitted ones have their defaults.
            on_missing: What happens with devices that lack an attribute that the document needs: REFUSE
                (default) rejects the call (J-506), SKIP skips them.
            note: A note that is stored with the run, for example the reason.
            approval: The run is released only after others approve it: true for one approval, or the number
                of approvals. It can add to what the job requires, but not lower it.
            start_at: Nothing is released before this time, at most a year from now; by default, now.
            window: Name of the window in which it is offered to devices; by default, the window of the job.
            ignore_windows: Offer it at any time, even outside the windows of the job, of devices and of
                groups; needs MANAGE and a `note`.
            replaces: Cancel pending executions of the same job on these devices, with the cause `superseded`,
                once the run is approved if it needs approval; running ones continue. Default false.
            priority: From 0 to 9; executions with a higher priority are offered first to a device. By
                default, the priority of the job.
            idempotency_key: Any unique text, for example a UUID.
            traceparent: W3C Trace Context: stored with the run and passed to its devices. Ignored if it is
                malformed.

        Errors: J-503 Invalid selector; J-001 Device not found; J-301 Job not found; J-309 Group not found;
        J-311 Window not found; J-313 Version not found; J-318 Secret not found; J-319 File not found; J-502 A
        request with this Idempotency-Key is still in progress; J-504 The selector matches no device; J-505
        The plan is no longer valid; J-506 Devices lack attributes that the document needs; J-912 Quota
        exceeded; J-501 Idempotency-Key was already used with a different request.
        """
        return self._run(
            self._value(
                _Call(
                    "POST",
                    "/job/api/runs",
                    body={
                        "jobName": job_name,
                        "targets": _given({"deviceIds": device_ids, "where": where, "group": group}),
                        **_given(
                            {
                                "version": version,
                                "parameters": parameters,
                                "onMissing": on_missing,
                                "note": note,
                                "rollout": rollout,
                                "approval": approval,
                                "startAt": start_at,
                                "window": window,
                                "ignoreWindows": ignore_windows,
                                "replaces": replaces,
                                "priority": priority,
                            },
                        ),
                    },
                    headers={
                        "Idempotency-Key": idempotency_key or _new_request_key(),
                        "Traceparent": traceparent,
                    },
                    safe=True,
                    hold=60,
                ),
            ),
        )

    def plan_run(
        self,
        job_name: str,
        *,
        device_ids: Optional[List[str]] = None,
        where: Optional[str] = None,
        group: Optional[str] = None,
        version: Optional[int] = None,
        parameters: Optional[Dict[str, Any]] = None,
        on_missing: Optional[Literal["REFUSE", "SKIP"]] = None,
        note: Optional[str] = None,
        rollout: Optional[Rollout] = None,
        approval: Optional[Union[bool, JobApproval]] = None,
        start_at: Optional[str] = None,
        window: Optional[str] = None,
        ignore_windows: Optional[bool] = None,
        replaces: Optional[bool] = None,
        priority: Optional[int] = None,
    ) -> RunPlan:
        """What `trigger` with the same arguments would do now; it creates nothing. `start_plan` starts
        exactly this within 10 minutes.

        Arguments:
            device_ids: A device listed twice gets one execution.
            where: A selector: an expression that selects devices; at most 4 KiB and 64 terms.
            group: The devices of this group.
            version: Version of the job; by default, the current one.
            parameters: Values of the parameters of the job, at most 16 KiB; omitted ones have their defaults.
            on_missing: What happens with devices that lack an attribute that the document needs: REFUSE
                (default) rejects the call (J-506), SKIP skips them.
            note: A note that is stored with the run, for example the reason.
            approval: The run is released only after others approve it: true for one approval, or the number
                of approvals. It can add to what the job requires, but not lower it.
            start_at: Nothing is released before this time, at most a year from now; by default, now.
            window: Name of the window in which it is offered to devices; by default, the window of the job.
            ignore_windows: Offer it at any time, even outside the windows of the job, of devices and of
                groups; needs MANAGE and a `note`.
            replaces: Cancel pending executions of the same job on these devices, with the cause `superseded`,
                once the run is approved if it needs approval; running ones continue. Default false.
            priority: From 0 to 9; executions with a higher priority are offered first to a device. By
                default, the priority of the job.

        Errors: J-503 Invalid selector; J-001 Device not found; J-301 Job not found; J-309 Group not found;
        J-311 Window not found; J-313 Version not found; J-318 Secret not found; J-319 File not found; J-502 A
        request with this Idempotency-Key is still in progress; J-504 The selector matches no device; J-505
        The plan is no longer valid; J-506 Devices lack attributes that the document needs; J-912 Quota
        exceeded; J-501 Idempotency-Key was already used with a different request.
        """
        return self._value(
            _Call(
                "POST",
                "/job/api/runs",
                body={
                    "jobName": job_name,
                    "targets": _given({"deviceIds": device_ids, "where": where, "group": group}),
                    **_given(
                        {
                            "version": version,
                            "parameters": parameters,
                            "onMissing": on_missing,
                            "note": note,
                            "rollout": rollout,
                            "approval": approval,
                            "startAt": start_at,
                            "window": window,
                            "ignoreWindows": ignore_windows,
                            "replaces": replaces,
                            "priority": priority,
                        },
                    ),
                },
                query={"dryRun": True},
                safe=True,
                hold=60,
            ),
        )

    def trigger_job(
        self,
        job_name: str,
        device_ids: List[str],
        *,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> List[TriggeredExecution]:
        """Trigger a job on one or more devices.

        Creates one execution per device, or none at all. The Location header is the run. With an
        Idempotency-Key the call can be repeated safely for 24 hours: it returns the first response and
        creates nothing.

        Arguments:
            job_name: Name of one of the caller's jobs.
            device_ids: One or more of the caller's devices; a device listed twice gets one execution.
            idempotency_key: Any unique text, for example a UUID.
            traceparent: W3C Trace Context: stored with the run and passed to its devices. Ignored if it is
                malformed.

        Errors: J-001 Device not found; J-301 Job not found; J-502 A request with this Idempotency-Key is
        still in progress; J-912 Quota exceeded; J-501 Idempotency-Key was already used with a different
        request.
        """
        return self._value(
            _Call(
                "POST",
                "/job/api/jobs/execute",
                headers={
                    "Idempotency-Key": idempotency_key or _new_request_key(),
                    "Traceparent": traceparent,
                },
                body=_given({"jobName": job_name, "deviceIds": device_ids}),
                safe=True,
            ),
        )

    def get_execution(self, job_execution_id: int, *, wait: Optional[int] = None) -> Execution:
        """Get an execution, optionally waiting for its end.

        Arguments:
            wait: How many seconds to wait for the end before answering.

        Errors: J-302 Execution not found.
        """
        return self._value(
            _Call(
                "GET",
                _path("/job/api/executions/{}", job_execution_id),
                query={"wait": wait},
                safe=True,
                hold=wait,
            ),
        )

    def get_execution_document(self, job_execution_id: int) -> Dict[str, Any]:
        """Get the document that the device of an execution gets.

        Placeholders are replaced by the parameters of the run and the attributes that the device has now;
        secrets are masked.

        Errors: J-302 Execution not found; J-506 Devices lack attributes that the document needs.
        """
        return self._value(
            _Call("GET", _path("/job/api/executions/{}/document", job_execution_id), safe=True),
        )

    def list_executions(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        job_name: Optional[str] = None,
        device_id: Optional[str] = None,
        exec_state: Union[None, ExecState, Iterable[ExecState]] = None,
        run_id: Optional[int] = None,
        launched_after: Optional[str] = None,
        launched_before: Optional[str] = None,
        finished_after: Optional[str] = None,
        finished_before: Optional[str] = None,
    ) -> Listing[Execution]:
        """List executions, newest first.

        Arguments:
            cursor: nextCursor of the previous page.
            exec_state: Only executions in one of these states: one, or several.
            launched_after: Launched at this instant or later.
            launched_before: Launched before this instant.
            finished_after: The execution ended at this instant or later.
            finished_before: The execution ended before this instant.
        """
        return self._list(
            "/job/api/executions",
            {
                "limit": limit,
                "cursor": cursor,
                "jobName": job_name,
                "deviceId": device_id,
                "execState": exec_state,
                "runId": run_id,
                "launchedAfter": launched_after,
                "launchedBefore": launched_before,
                "finishedAfter": finished_after,
                "finishedBefore": finished_before,
            },
        )

    def cancel_execution(self, job_execution_id: int, *, force: Optional[bool] = None) -> Execution:
        """Cancel an execution.

        A PENDING execution is CANCELED immediately; one that is IN_PROGRESS is CANCELING until its device
        confirms.

        Arguments:
            force: Do not wait for the device to confirm.

        Errors: J-302 Execution not found; J-303 The current state does not allow this.
        """
        return self._value(
            _Call(
                "POST",
                _path("/job/api/executions/{}/cancel", job_execution_id),
                body=_given({"force": force}),
                safe=True,
                then=_path("/job/api/executions/{}", job_execution_id),
            ),
        )

    def get_execution_history(self, job_execution_id: int) -> History:
        """Get the history of an execution: every transition with time, actor and cause.

        Errors: J-302 Execution not found.
        """
        return self._value(_Call("GET", _path("/job/api/executions/{}/history", job_execution_id), safe=True))

    def explain_execution(self, job_execution_id: int) -> Explanation:
        """Explain in one sentence why an execution is in its current state.

        What it is waiting for, what its device is doing, or how it ended.

        Errors: J-302 Execution not found.
        """
        return self._value(_Call("GET", _path("/job/api/executions/{}/explain", job_execution_id), safe=True))

    def get_execution_output(
        self,
        job_execution_id: int,
        *,
        offset: Optional[int] = None,
        attempt: Optional[int] = None,
        follow: Optional[bool] = None,
        download: Optional[bool] = None,
    ) -> Content:
        """Get the output of an execution, or follow it while it is written.

        The bytes as the device wrote them. If the output was truncated, the last line says so. With `follow`,
        later attempts are appended, each after a line that announces it, unless `attempt` is given. After a
        disconnect, resume with `attempt` and `offset` (the number of bytes you have).

        Arguments:
            offset: First byte to return.
            attempt: Each attempt has its own output; default: the latest attempt.
            follow: Keep the response open until the execution has ended.
            download: Send it as a file attachment.

        Errors: J-302 Execution not found; J-912 Quota exceeded.
        """
        return self._content(
            _Call(
                "GET",
                _path("/job/api/executions/{}/output", job_execution_id),
                query={"offset": offset, "attempt": attempt, "follow": follow, "download": download},
                accept="text/plain, ",
                safe=True,
            ),
        )

    def get_run(self, run_id: int, *, wait: Optional[int] = None) -> Run:
        """Get a run, optionally waiting until all its executions have ended.

        Arguments:
            wait: How many seconds to wait for the end before answering.

        Errors: J-304 Run not found.
        """
        return self._run(
            self._value(
                _Call("GET", _path("/job/api/runs/{}", run_id), query={"wait": wait}, safe=True, hold=wait),
            ),
        )

    def change_run(self, run_id: int, rollout: ChangeRunRollout) -> Run:
        """Change the rollout of a run in progress.

        A merge patch (RFC 7396): fields that it does not name stay, null removes a field, and lists (`waves`,
        `stop`) are replaced as a whole. Waves that have started cannot change, and all waves keep their
        selector: the order of the devices was fixed when the run was created. A run that was approved waits
        for approval again. To take away or weaken a gate with the action APPROVAL needs APPROVE too, by
        somebody who did not create, change or fire the run (J-810).

        Arguments:
            rollout: A merge patch (RFC 7396): omitted fields keep their value, null removes a field, lists
                are replaced.

        Errors: J-810 Whoever created, changed or fired a run cannot approve or deny it; J-304 Run not found;
        J-303 The current state does not allow this.
        """
        return self._run(
            self._value(
                _Call(
                    "PATCH",
                    _path("/job/api/runs/{}", run_id),
                    body=_given({"rollout": rollout}),
                    safe=True,
                ),
            ),
        )

    def get_run_document(self, run_id: int) -> Dict[str, Any]:
        """Get the document of a run.

        The document of the version of the job that it uses, with unresolved placeholders. For the document
        that one device gets, see the execution.

        Errors: J-304 Run not found.
        """
        return self._value(_Call("GET", _path("/job/api/runs/{}/document", run_id), safe=True))

    def get_run_failures(self, run_id: int) -> RunFailures:
        """Explain why executions of a run did not succeed, and what their devices have in common.

        Counts all executions of the run that ended FAILED, TIMED_OUT, REJECTED or EXPIRED, and those that
        were CANCELED after they were sent to their device. `shared` compares the tags and attributes of their
        devices with those of the devices that SUCCEEDED; of more than 10,000 on one side, about 10,000 are
        compared.

        Errors: J-304 Run not found.
        """
        return self._value(_Call("GET", _path("/job/api/runs/{}/failures", run_id), safe=True, hold=60))

    def list_runs(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        job_name: Optional[str] = None,
        version: Optional[int] = None,
        finished: Optional[bool] = None,
        schedule_name: Optional[str] = None,
        rollout_state: Optional[RolloutProgressState] = None,
        exec_state: Union[None, ExecState, Iterable[ExecState]] = None,
        launched_after: Optional[str] = None,
        launched_before: Optional[str] = None,
        finished_after: Optional[str] = None,
        finished_before: Optional[str] = None,
    ) -> Listing[Run]:
        """List runs, newest first.

        Arguments:
            cursor: nextCursor of the previous page.
            version: Only runs of this version of the job; needs `job_name`.
            finished: Only runs that have (true) or have not (false) finished.
            schedule_name: Only runs of this schedule.
            rollout_state: Only runs whose rollout is in this state; never one without a rollout.
            exec_state: Only runs that have an execution in one of these states: one, or several.
            launched_after: Launched at this instant or later.
            launched_before: Launched before this instant.
            finished_after: The run ended at this instant or later.
            finished_before: The run ended before this instant.
        """
        return self._list(
            "/job/api/runs",
            {
                "limit": limit,
                "cursor": cursor,
                "jobName": job_name,
                "version": version,
                "finished": finished,
                "scheduleName": schedule_name,
                "rolloutState": rollout_state,
                "execState": exec_state,
                "launchedAfter": launched_after,
                "launchedBefore": launched_before,
                "finishedAfter": finished_after,
                "finishedBefore": finished_before,
            },
            self._run,
        )

    def create_run(
        self,
        *,
        job_name: Optional[str] = None,
        targets: Optional[Targets] = None,
        version: Optional[int] = None,
        parameters: Optional[Dict[str, Any]] = None,
        on_missing: Optional[Literal["REFUSE", "SKIP"]] = None,
        note: Optional[str] = None,
        rollout: Optional[Rollout] = None,
        approval: Optional[Union[bool, JobApproval]] = None,
        start_at: Optional[str] = None,
        window: Optional[str] = None,
        ignore_windows: Optional[bool] = None,
        replaces: Optional[bool] = None,
        priority: Optional[int] = None,
        plan_id: Optional[str] = None,
        dry_run: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> Union[RunPlan, Run]:
        """Trigger a job on listed or selected devices, or plan it.

        Creates one execution per device, or none at all. A selector may match 1,000,000 devices; a list has
        at most `max-devices`. With `dry_run=True` it returns the plan and creates nothing; the `plan_id` of a
        plan, alone, starts exactly what the plan showed, once. With an Idempotency-Key the call can be
        repeated safely for 24 hours.

        Arguments:
            job_name: Required without planId.
            version: Version of the job; by default, the current one.
            parameters: Values of the parameters of the job, at most 16 KiB; omitted ones have their defaults.
            on_missing: What happens with devices that lack an attribute that the document needs: REFUSE
                (default) rejects the call (J-506), SKIP skips them.
            note: A note that is stored with the run, for example the reason.
            approval: The run is released only after others approve it: true for one approval, or the number
                of approvals. It can add to what the job requires, but not lower it.
            start_at: Nothing is released before this time, at most a year from now; by default, now.
            window: Name of the window in which it is offered to devices; by default, the window of the job.
            ignore_windows: Offer it at any time, even outside the windows of the job, of devices and of
                groups; needs MANAGE and a `note`.
            replaces: Cancel pending executions of the same job on these devices, with the cause `superseded`,
                once the run is approved if it needs approval; running ones continue. Default false.
            priority: From 0 to 9; executions with a higher priority are offered first to a device. By
                default, the priority of the job.
            plan_id: From a dry run, within 10 minutes: starts exactly what was planned, once; repeating the
                call returns the same run. No other field is needed; one that differs from the plan, a job,
                window or selection that has changed since, or an older plan is rejected (J-505).
            dry_run: Return the plan and create nothing.
            idempotency_key: Any unique text, for example a UUID.
            traceparent: W3C Trace Context: stored with the run and passed to its devices. Ignored if it is
                malformed.

        Errors: J-503 Invalid selector; J-001 Device not found; J-301 Job not found; J-309 Group not found;
        J-311 Window not found; J-313 Version not found; J-318 Secret not found; J-319 File not found; J-502 A
        request with this Idempotency-Key is still in progress; J-504 The selector matches no device; J-505
        The plan is no longer valid; J-506 Devices lack attributes that the document needs; J-912 Quota
        exceeded; J-501 Idempotency-Key was already used with a different request.
        """
        return self._run(
            self._value(
                _Call(
                    "POST",
                    "/job/api/runs",
                    query={"dryRun": dry_run},
                    headers={
                        "Idempotency-Key": idempotency_key or _new_request_key(),
                        "Traceparent": traceparent,
                    },
                    body=_given(
                        {
                            "jobName": job_name,
                            "targets": targets,
                            "version": version,
                            "parameters": parameters,
                            "onMissing": on_missing,
                            "note": note,
                            "rollout": rollout,
                            "approval": approval,
                            "startAt": start_at,
                            "window": window,
                            "ignoreWindows": ignore_windows,
                            "replaces": replaces,
                            "priority": priority,
                            "planId": plan_id,
                        },
                    ),
                    safe=True,
                    hold=60,
                ),
            ),
        )

    def cancel_run(self, run_id: int, *, force: Optional[bool] = None) -> Run:
        """Cancel the unfinished executions of a run.

        Cancels each execution as if individually. The response has the new counts. If a large run is not
        canceled within 10 seconds, the status is 202: the counts are those so far, and the rest is being
        canceled. Read the run to follow it; if the node is stopped during that time, cancel the run again.

        Arguments:
            force: Do not wait for the device to confirm.

        Errors: J-304 Run not found; J-303 The current state does not allow this.
        """
        return self._run(
            self._value(
                _Call(
                    "POST",
                    _path("/job/api/runs/{}/cancel", run_id),
                    body=_given({"force": force}),
                    safe=True,
                    then=_path("/job/api/runs/{}", run_id),
                ),
            ),
        )

    def retry_run(
        self,
        run_id: int,
        *,
        device_ids: Optional[List[str]] = None,
        version: Optional[Literal["SAME", "NEWEST"]] = None,
        rollout: Optional[Rollout] = None,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> Run:
        """Trigger the job again on the devices of a run whose executions were unsuccessful.

        Creates a new run, linked to the old one by `retryOf`, with the same parameters and, by default, of
        the same version of the job and released by the same rollout. Unfinished executions are left alone.
        With an Idempotency-Key the call can be repeated safely for 24 hours.

        Arguments:
            device_ids: Only these devices; default: all devices whose execution was unsuccessful.
            version: SAME (default): the version of the job that the run used; NEWEST: the current one.
            idempotency_key: Any unique text, for example a UUID.
            traceparent: W3C Trace Context: stored with the run and passed to its devices. Ignored if it is
                malformed.

        Errors: J-503 Invalid selector; J-001 Device not found; J-301 Job not found; J-304 Run not found;
        J-309 Group not found; J-311 Window not found; J-313 Version not found; J-318 Secret not found; J-319
        File not found; J-305 The run has no unsuccessful executions to retry; J-502 A request with this
        Idempotency-Key is still in progress; J-506 Devices lack attributes that the document needs; J-912
        Quota exceeded; J-501 Idempotency-Key was already used with a different request.
        """
        return self._run(
            self._value(
                _Call(
                    "POST",
                    _path("/job/api/runs/{}/retry", run_id),
                    headers={
                        "Idempotency-Key": idempotency_key or _new_request_key(),
                        "Traceparent": traceparent,
                    },
                    body=_given({"deviceIds": device_ids, "version": version, "rollout": rollout}),
                    safe=True,
                    hold=60,
                ),
            ),
        )

    def roll_back_run(
        self,
        run_id: int,
        *,
        to_version: Optional[int] = None,
        device_ids: Optional[List[str]] = None,
        where: Optional[str] = None,
        rollout: Optional[Rollout] = None,
        note: Optional[str] = None,
        again: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> Run:
        """Roll the devices of a run back to an earlier version of the job.

        Stops the run first: executions that were not released are CANCELED, and those running on the devices
        to roll back are asked to cancel. When nothing of it is left to start, creates a new run, linked to
        the old one by `rollbackOf`, of the version before (or `to_version`), on every device that may have
        received it: all that the run was released to, however their executions ended. It is released at once
        unless a `rollout` is given. If the job requires approval, so does the rollback, except to the version
        before if an earlier run of it was released completely. Stopping an unfinished run that somebody else
        started needs MANAGE as well (J-804). Parameters that this version declares keep their values. A
        second rollback is rejected (J-317) unless `again` is true. With an Idempotency-Key the call can be
        repeated safely for 24 hours.

        Arguments:
            to_version: Version of the job; by default, the version before the one that the run used.
            device_ids: Only these of the devices that the run was released to.
            where: Only those of them that match this selector.
            note: Why, for whoever looks at it later.
            again: Also if the run was rolled back before (otherwise J-317).
            idempotency_key: Any unique text, for example a UUID.
            traceparent: W3C Trace Context: stored with the run and passed to its devices. Ignored if it is
                malformed.

        Errors: J-503 Invalid selector; J-001 Device not found; J-301 Job not found; J-304 Run not found;
        J-309 Group not found; J-311 Window not found; J-313 Version not found; J-318 Secret not found; J-319
        File not found; J-314 The run has no executions to roll back; J-317 The run was rolled back before;
        J-502 A request with this Idempotency-Key is still in progress; J-506 Devices lack attributes that the
        document needs; J-912 Quota exceeded; J-501 Idempotency-Key was already used with a different request;
        J-910 Service is stopping.
        """
        return self._run(
            self._value(
                _Call(
                    "POST",
                    _path("/job/api/runs/{}/rollback", run_id),
                    headers={
                        "Idempotency-Key": idempotency_key or _new_request_key(),
                        "Traceparent": traceparent,
                    },
                    body=_given(
                        {
                            "toVersion": to_version,
                            "deviceIds": device_ids,
                            "where": where,
                            "rollout": rollout,
                            "note": note,
                            "again": again,
                        },
                    ),
                    safe=True,
                    hold=60,
                ),
            ),
        )

    def pause_run(self, run_id: int) -> Run:
        """Pause the rollout of a run.

        No more executions are released; released ones continue.

        Errors: J-304 Run not found; J-303 The current state does not allow this.
        """
        return self._run(
            self._value(
                _Call(
                    "POST",
                    _path("/job/api/runs/{}/pause", run_id),
                    safe=True,
                    then=_path("/job/api/runs/{}", run_id),
                ),
            ),
        )

    def advance_run(self, run_id: int) -> Run:
        """Start the next wave of a run now.

        Works even if its gate is closed or the rollout is paused. At a gate with the action APPROVAL, the run
        then waits for approval; while it waits, advance and resume are rejected (J-303).

        Errors: J-304 Run not found; J-303 The current state does not allow this.
        """
        return self._run(self._value(_Call("POST", _path("/job/api/runs/{}/advance", run_id))))

    def resume_run(self, run_id: int, *, except_: Optional[List[str]] = None) -> Run:
        """Resume the rollout of a run, with or without some of its devices.

        Resets the counters of the stop rules: executions that ended before do not stop it again. If failures
        have stopped the run (STOP_RULE, GATE_CLOSED), they are accepted: the gate judges the other devices of
        the wave, and if all of them have succeeded the next wave starts. Executions of the devices in
        `except` that have not started are canceled first.

        Arguments:
            except_: Resume without these devices of the run: their executions that have not started are
                canceled, and no gate counts them.

        Errors: J-304 Run not found; J-303 The current state does not allow this.
        """
        return self._run(
            self._value(
                _Call(
                    "POST",
                    _path("/job/api/runs/{}/resume", run_id),
                    body=_given({"except": except_}),
                    safe=True,
                    then=_path("/job/api/runs/{}", run_id),
                ),
            ),
        )

    def approve_run(
        self,
        run_id: int,
        *,
        comment: Optional[str] = None,
        digest: Optional[str] = None,
    ) -> Run:
        """Approve a run that waits for approval.

        It continues when it has all required approvals. Whoever created, changed or fired the run cannot
        decide (J-810). Keys that were created one from another are one principal, and so are the sessions of
        a key; a key that the operator or an ADMIN key has created is a separate principal. A second decision
        by the same principal is rejected. An approval is for the run as it is now: after a change the run
        waits for approval again.

        Arguments:
            digest: The `rollout.approval.digest` you have seen: refused if the run has changed since.

        Errors: J-810 Whoever created, changed or fired a run cannot approve or deny it; J-304 Run not found;
        J-303 The current state does not allow this.
        """
        return self._run(
            self._value(
                _Call(
                    "POST",
                    _path("/job/api/runs/{}/approve", run_id),
                    body=_given({"comment": comment, "digest": digest}),
                    safe=True,
                    then=_path("/job/api/runs/{}", run_id),
                ),
            ),
        )

    def deny_run(
        self,
        run_id: int,
        *,
        comment: Optional[str] = None,
        digest: Optional[str] = None,
    ) -> Run:
        """Deny a run: executions that were not released are canceled.

        One denial is enough. Whoever created, changed or fired the run cannot decide (J-810). Keys that were
        created one from another are one principal, and so are the sessions of a key; a key that the operator
        or an ADMIN key has created is a separate principal. A second decision by the same principal is
        rejected. An approval is for the run as it is now: after a change the run waits for approval again.

        Arguments:
            digest: The `rollout.approval.digest` you have seen: refused if the run has changed since.

        Errors: J-810 Whoever created, changed or fired a run cannot approve or deny it; J-304 Run not found;
        J-303 The current state does not allow this.
        """
        return self._run(
            self._value(
                _Call(
                    "POST",
                    _path("/job/api/runs/{}/deny", run_id),
                    body=_given({"comment": comment, "digest": digest}),
                    safe=True,
                    then=_path("/job/api/runs/{}", run_id),
                ),
            ),
        )

    def freeze_fleet(self, reason: str, *, until: Optional[str] = OMIT) -> Freeze:
        """Freeze the fleet: stop offering work to its devices.

        Running executions continue. Jobs can be triggered; their executions stay PENDING.

        Arguments:
            reason: The reason, shown to everyone who views the fleet.
            until: When it ends automatically; by default, when somebody ends it.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._value(
            _Call("POST", "/job/api/fleet/freeze", body=_given({"reason": reason}, {"until": until})),
        )

    def get_freeze(self) -> Freeze:
        """Get whether the fleet is frozen, and why."""
        return self._value(_Call("GET", "/job/api/fleet/freeze", safe=True))

    def unfreeze_fleet(self) -> None:
        """End the freeze of the fleet.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        self._value(_Call("DELETE", "/job/api/fleet/freeze", safe=True))

    def follow_events(
        self,
        *,
        after: Optional[int] = None,
        since: Optional[str] = None,
        types: Union[None, str, Iterable[str]] = None,
        run_id: Optional[int] = None,
        job_name: Optional[str] = None,
        device_id: Optional[str] = None,
    ) -> Iterator[Event]:
        """Follow events of runs, executions and devices.

        Server-sent events, in order, each with an id. After a disconnect, send the last id you received as
        `Last-Event-ID`, as every EventSource does: the stream resumes there, without gaps or duplicates. A
        block with an id and no data only reports the current position.

        Arguments:
            after: Start after this event; 0 starts with the oldest retained event. The Last-Event-ID header
                takes precedence. Without either, the stream starts with new events.
            since: Start with retained events from this instant on; `after` takes precedence.
            types: Only these types: one, or several; `execution.*` matches all types of a noun.

        Errors: J-912 Quota exceeded; J-306 The requested events are no longer retained.
        """
        return self._events({
            "after": after,
            "since": since,
            "types": types,
            "runId": run_id,
            "jobName": job_name,
            "deviceId": device_id,
        })

    def list_audit(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        principal: Optional[str] = None,
        action: Optional[str] = None,
        subject: Optional[str] = None,
        after: Optional[str] = None,
        before: Optional[str] = None,
    ) -> Listing[AuditEntry]:
        """List entries of the audit, newest first.

        Each change by a caller, each sign-in and each refusal for a missing scope has one entry. With a
        filter a page may have fewer entries than its limit, or none, while `nextCursor` says that there are
        more.

        Arguments:
            cursor: nextCursor of the previous page.
            principal: Only of this principal.
            action: Only this action, or all of a noun.
            subject: Only of this subject.
            after: Only entries later than this.
            before: Only entries earlier than this.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._list(
            "/job/api/audit",
            {
                "limit": limit,
                "cursor": cursor,
                "principal": principal,
                "action": action,
                "subject": subject,
                "after": after,
                "before": before,
            },
        )

    def export_audit(self) -> Content:
        """Export the audit log with its seals.

        All sealed entries, oldest first, one per line; each seal follows the entries that it covers. Verify
        the export with `jobcast audit verify` and a checkpoint that you have stored elsewhere.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._content(
            _Call("GET", "/job/api/audit/export", accept="application/x-ndjson, ", safe=True),
        )

    def get_audit_checkpoint(self) -> AuditCheckpoint:
        """Get the last seal of the audit, and the key that verifies it.

        Keep it outside of the service. The event `audit.sealed` has the same data.

        Errors: J-814 A restricted API key cannot be used for this; J-321 The audit has no seal yet.
        """
        return self._value(_Call("GET", "/job/api/audit/checkpoint", safe=True))

    def put_webhook(
        self,
        webhook_name: str,
        url: str,
        *,
        event_types: Optional[List[EventPattern]] = None,
        job_name: Optional[str] = None,
        device_id: Optional[str] = None,
        format: Optional[Literal["jobcast", "slack", "teams", "cloudevents"]] = None,
        secret: Optional[str] = None,
        if_match: Optional[str] = None,
        if_none_match: Optional[str] = None,
    ) -> Union[Webhook, CreatedWebhook]:
        """Create or replace a webhook.

        A new webhook receives events that occur after it was created. A replaced webhook keeps its position,
        its secret unless you set another one, and stays paused if it is paused. At most 100 per owner. A
        webhook that a restricted key creates sends only events inside the restriction, and its name ends with
        @ and a tag of the restriction, which keys with the same restriction leave out.

        Arguments:
            url: Where events are sent, by POST.
            event_types: Only these types; `execution.*` matches all types of a noun. Default: all events
                except those about access; with the formats `slack` and `teams` those that matter to people.
            job_name: Only events of this job.
            device_id: Only events of this device.
            format: `jobcast`: the event. `cloudevents`: the event as a CloudEvent 1.0. `slack` and `teams`:
                one sentence for people with a link to the console; executions are reported with their run,
                once it has finished.
            secret: Signing secret; generated if omitted. It is never shown again.
            if_match: Only if its ETag is one of these, or with `*` if it exists; otherwise J-312.
            if_none_match: With `*`: only if there is none yet; else J-312.

        Errors: J-814 A restricted API key cannot be used for this; J-307 Webhook not found; J-912 Quota
        exceeded; J-312 The resource was modified: If-Match or If-None-Match does not match.
        """
        return self._value(
            _Call(
                "PUT",
                _path("/job/api/webhooks/{}", webhook_name),
                headers={"If-Match": if_match, "If-None-Match": if_none_match},
                body=_given(
                    {
                        "url": url,
                        "eventTypes": event_types,
                        "jobName": job_name,
                        "deviceId": device_id,
                        "format": format,
                        "secret": secret,
                    },
                ),
                safe=if_none_match is None and secret is not None,
            ),
        )

    def get_webhook(self, webhook_name: str) -> Webhook:
        """Get a webhook.

        Without the scope `MANAGE`, `url` is only the scheme and host: its path may hold a secret.

        Errors: J-307 Webhook not found.
        """
        return self._value(_Call("GET", _path("/job/api/webhooks/{}", webhook_name), safe=True))

    def delete_webhook(self, webhook_name: str, *, if_match: Optional[str] = None) -> None:
        """Delete a webhook and its deliveries.

        Arguments:
            if_match: Only if its ETag is one of these, or with `*` if it exists; otherwise J-312.

        Errors: J-307 Webhook not found; J-312 The resource was modified: If-Match or If-None-Match does not
        match.
        """
        self._value(
            _Call(
                "DELETE",
                _path("/job/api/webhooks/{}", webhook_name),
                headers={"If-Match": if_match},
                safe=True,
            ),
        )

    def list_webhooks(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[Webhook]:
        """List webhooks, ordered by name.

        Without the scope `MANAGE`, `url` is only the scheme and host: its path may hold a secret.

        Arguments:
            cursor: nextCursor of the previous page.
        """
        return self._list("/job/api/webhooks", {"limit": limit, "cursor": cursor})

    def pause_webhook(self, webhook_name: str) -> Webhook:
        """Pause a webhook.

        Events that occur while it is paused are sent after `resume`, as long as they are retained.

        Errors: J-307 Webhook not found.
        """
        return self._value(_Call("POST", _path("/job/api/webhooks/{}/pause", webhook_name), safe=True))

    def resume_webhook(self, webhook_name: str) -> Webhook:
        """Resume a paused webhook.

        Deliveries that wait for a retry are retried immediately.

        Errors: J-307 Webhook not found.
        """
        return self._value(_Call("POST", _path("/job/api/webhooks/{}/resume", webhook_name), safe=True))

    def change_webhook_secret(self, webhook_name: str) -> WebhookSecret:
        """Create a new signing secret.

        For 24 hours requests carry two signatures: one by the new secret and one by the previous secret.

        Errors: J-307 Webhook not found.
        """
        return self._value(_Call("POST", _path("/job/api/webhooks/{}/secret", webhook_name)))

    def list_deliveries(
        self,
        webhook_name: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        state: Optional[Literal["PENDING", "DELIVERED", "FAILED"]] = None,
    ) -> Listing[Delivery]:
        """List the deliveries of a webhook, newest event first.

        With up to 20 attempts each. Retained as long as the events.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-307 Webhook not found.
        """
        return self._list(
            _path("/job/api/webhooks/{}/deliveries", webhook_name),
            {"limit": limit, "cursor": cursor, "state": state},
        )

    def replay_delivery(self, webhook_name: str, event_id: int) -> Delivery:
        """Send one event again.

        Works for any retained event that was sent before or matches the webhook now.

        Errors: J-307 Webhook not found; J-308 Delivery not found.
        """
        return self._value(
            _Call("POST", _path("/job/api/webhooks/{}/deliveries/{}/replay", webhook_name, event_id)),
        )

    def replay_webhook(self, webhook_name: str, since: str) -> Webhook:
        """Send all events since an instant again.

        All retained events that match. New events follow after them.

        Arguments:
            since: Events from this instant on are sent again.

        Errors: J-307 Webhook not found.
        """
        return self._value(
            _Call("POST", _path("/job/api/webhooks/{}/replay", webhook_name), body=_given({"since": since})),
        )

    def test_webhook(self, webhook_name: str) -> WebhookTestResult:
        """Send a test request now.

        Sends one signed request of type `webhook.test` to the URL of the webhook, even if it is paused, and
        returns the result, after up to 16 seconds. It is not an event: nothing is stored, and nothing is sent
        again.

        Errors: J-307 Webhook not found; J-910 Service is stopping.
        """
        return self._value(_Call("POST", _path("/job/api/webhooks/{}/test", webhook_name)))

    def put_job(
        self,
        job_name: str,
        *,
        description: Optional[str] = None,
        document: Optional[Dict[str, Any]] = None,
        parameters: Optional[Dict[str, Any]] = None,
        expire_after_seconds: Optional[int] = None,
        timeout_seconds: Optional[int] = None,
        deadline_seconds: Optional[int] = None,
        retry: Optional[PutJobRetry] = None,
        rollout: Optional[Rollout] = None,
        approval: Optional[Union[bool, JobApproval]] = None,
        window: Optional[str] = None,
        priority: Optional[int] = None,
        signatures: Optional[List[JobEnvelope]] = None,
        if_match: Optional[str] = None,
        if_none_match: Optional[str] = None,
    ) -> Job:
        """Create or replace a job.

        Creates the next version of the job, unless nothing has changed. Existing runs keep the version they
        were triggered with. `execute` is a reserved name.

        Arguments:
            document: Any JSON object up to 64 KiB. Placeholders in its texts, such as `${params.x}` and
                `${secrets.NAME}`, are replaced when a device gets it; `$${` is a literal `${`.
            parameters: JSON Schema 2020-12 of the parameters of its runs, at most 16 KiB: an object of
                string, number, integer, boolean, and arrays of these. `writeOnly` makes a parameter a secret.
            expire_after_seconds: How long an execution may stay PENDING before it becomes EXPIRED.
            timeout_seconds: How long an attempt may stay IN_PROGRESS before it becomes TIMED_OUT.
            deadline_seconds: How long an execution may take in total, including all attempts.
            retry: Retry policy: when an attempt ends in one of these states, another attempt follows.
            approval: Its runs require approval by others: true for one approval, or the number of approvals;
                default false. Removing or lowering it needs APPROVE.
            window: Name of the window in which its executions are offered, unless a run names another;
                applies to the trigger call as well.
            priority: From 0 to 9, default 5; executions with a higher priority are offered first to a device,
                also those of the trigger call.
            signatures: Signatures of the authors for this job and this version; several envelopes must have
                the same payload, and are merged into one. Devices get it as `jobSignature`.
            if_match: Only if its ETag is one of these, or with `*` if it exists; otherwise J-312.
            if_none_match: With `*`: only if there is none yet; else J-312.

        Errors: J-814 A restricted API key cannot be used for this; J-311 Window not found; J-318 Secret not
        found; J-319 File not found; J-912 Quota exceeded; J-312 The resource was modified: If-Match or
        If-None-Match does not match.
        """
        return self._value(
            _Call(
                "PUT",
                _path("/job/api/jobs/{}", job_name),
                headers={"If-Match": if_match, "If-None-Match": if_none_match},
                body=_given(
                    {
                        "description": description,
                        "document": document,
                        "parameters": parameters,
                        "expireAfterSeconds": expire_after_seconds,
                        "timeoutSeconds": timeout_seconds,
                        "deadlineSeconds": deadline_seconds,
                        "retry": retry,
                        "rollout": rollout,
                        "approval": approval,
                        "window": window,
                        "priority": priority,
                        "signatures": signatures,
                    },
                ),
                safe=if_none_match is None,
            ),
        )

    def get_job(self, job_name: str) -> Job:
        """Get a job.

        Errors: J-301 Job not found.
        """
        return self._value(_Call("GET", _path("/job/api/jobs/{}", job_name), safe=True))

    def delete_job(
        self,
        job_name: str,
        *,
        force: Optional[bool] = None,
        if_match: Optional[str] = None,
    ) -> None:
        """Delete a job.

        Rejected (J-315) while schedules or runs with pending executions need it, unless `force` is true. Then
        its schedules are paused; existing executions continue.

        Arguments:
            force: Delete it even if schedules or waiting runs need it; its schedules are paused.
            if_match: Only if its ETag is one of these, or with `*` if it exists; otherwise J-312.

        Errors: J-814 A restricted API key cannot be used for this; J-301 Job not found; J-315 The resource is
        in use; J-312 The resource was modified: If-Match or If-None-Match does not match.
        """
        self._value(
            _Call(
                "DELETE",
                _path("/job/api/jobs/{}", job_name),
                query={"force": force},
                headers={"If-Match": if_match},
                safe=True,
            ),
        )

    def list_jobs(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> Listing[Job]:
        """List jobs, ordered by name.

        Arguments:
            cursor: nextCursor of the previous page.
        """
        return self._list("/job/api/jobs", {"limit": limit, "cursor": cursor})

    def list_job_versions(
        self,
        job_name: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[JobVersion]:
        """List the versions of a job, newest first.

        Each change of a job creates a version that never changes. If a job is deleted and created again,
        numbering continues, and its earlier versions are listed as well.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-301 Job not found.
        """
        return self._list(_path("/job/api/jobs/{}/versions", job_name), {"limit": limit, "cursor": cursor})

    def get_job_version(self, job_name: str, version: int) -> JobVersion:
        """Get a version of a job.

        Errors: J-301 Job not found; J-313 Version not found.
        """
        return self._value(_Call("GET", _path("/job/api/jobs/{}/versions/{}", job_name, version), safe=True))

    def restore_job_version(self, job_name: str, version: int, *, if_match: Optional[str] = None) -> Job:
        """Restore a version of a job.

        Creates a new version with the content of this one. If the current version has the same content,
        nothing changes. A signed version cannot be restored: its author must sign it again, as the next
        version.

        Arguments:
            if_match: Only if its ETag is one of these, or with `*` if it exists; otherwise J-312.

        Errors: J-814 A restricted API key cannot be used for this; J-301 Job not found; J-311 Window not
        found; J-313 Version not found; J-318 Secret not found; J-319 File not found; J-316 A signed version
        cannot be restored: its author must sign it again; J-312 The resource was modified: If-Match or
        If-None-Match does not match.
        """
        return self._value(
            _Call(
                "POST",
                _path("/job/api/jobs/{}/versions/{}/restore", job_name, version),
                headers={"If-Match": if_match},
                safe=True,
            ),
        )

    def patch_device(
        self,
        device_id: str,
        *,
        device_name: Optional[str] = OMIT,
        tags: Optional[List[str]] = OMIT,
        attributes: Optional[Dict[str, Optional[Union[str, float, bool]]]] = OMIT,
        time_zone: Optional[str] = OMIT,
        window: Optional[str] = OMIT,
        if_match: Optional[str] = None,
    ) -> Device:
        """Change a device in part.

        A merge patch (RFC 7396): fields and attributes that are not given keep their value, null resets or
        removes them. Content-Type is application/merge-patch+json or application/json.

        Arguments:
            device_name: null: the deviceId.
            tags: Replaces all tags; null: none.
            attributes: Each attribute: its new value, or null to remove it.
            if_match: Only if its ETag is one of these, or with `*` if it exists; otherwise J-312.

        Errors: J-814 A restricted API key cannot be used for this; J-001 Device not found; J-311 Window not
        found; J-312 The resource was modified: If-Match or If-None-Match does not match.
        """
        return self._value(
            _Call(
                "PATCH",
                _path("/job/api/devices/{}", device_id),
                headers={"If-Match": if_match},
                body=_given(
                    {},
                    {
                        "deviceName": device_name,
                        "tags": tags,
                        "attributes": attributes,
                        "timeZone": time_zone,
                        "window": window,
                    },
                ),
                safe=True,
            ),
        )

    def put_device(
        self,
        device_id: str,
        *,
        device_name: Optional[str] = None,
        tags: Optional[List[str]] = None,
        attributes: Optional[Dict[str, Union[str, float, bool]]] = None,
        time_zone: Optional[str] = OMIT,
        window: Optional[str] = OMIT,
        if_match: Optional[str] = None,
        if_none_match: Optional[str] = None,
    ) -> Device:
        """Create or replace a device.

        A deviceId has at most 128 characters and none of / + # ?.

        Arguments:
            attributes: Names of 1 to 64 letters, digits and _ . -, not beginning with a digit, . or -; values
                are text of at most 256 characters, numbers, or true and false.
            window: Name of a window: the device is offered work only while it is open.
            if_match: Only if its ETag is one of these, or with `*` if it exists; otherwise J-312.
            if_none_match: With `*`: only if there is none yet; else J-312.

        Errors: J-814 A restricted API key cannot be used for this; J-311 Window not found; J-912 Quota
        exceeded; J-312 The resource was modified: If-Match or If-None-Match does not match.
        """
        return self._value(
            _Call(
                "PUT",
                _path("/job/api/devices/{}", device_id),
                headers={"If-Match": if_match, "If-None-Match": if_none_match},
                body=_given(
                    {"deviceName": device_name, "tags": tags, "attributes": attributes},
                    {"timeZone": time_zone, "window": window},
                ),
                safe=if_none_match is None,
            ),
        )

    def get_device(self, device_id: str) -> Device:
        """Get a device.

        Errors: J-001 Device not found.
        """
        return self._value(_Call("GET", _path("/job/api/devices/{}", device_id), safe=True))

    def delete_device(self, device_id: str, *, if_match: Optional[str] = None) -> None:
        """Delete a device.

        Its unfinished executions are CANCELED, its credential is revoked and it is disconnected.

        Arguments:
            if_match: Only if its ETag is one of these, or with `*` if it exists; otherwise J-312.

        Errors: J-814 A restricted API key cannot be used for this; J-001 Device not found; J-312 The resource
        was modified: If-Match or If-None-Match does not match.
        """
        self._value(
            _Call(
                "DELETE",
                _path("/job/api/devices/{}", device_id),
                headers={"If-Match": if_match},
                safe=True,
            ),
        )

    def list_devices(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        tag: Optional[str] = None,
        where: Optional[str] = None,
        online: Optional[bool] = None,
    ) -> Listing[Device]:
        """List devices, ordered by deviceId.

        With `where` a page may have fewer items than `limit`, even none, before the last one: continue while
        there is a `nextCursor`.

        Arguments:
            cursor: nextCursor of the previous page.
            where: A selector: an expression that selects devices; at most 4 KiB and 64 terms.
            online: Only devices that are (true) or are not (false) online.

        Errors: J-503 Invalid selector; J-309 Group not found.
        """
        return self._list(
            "/job/api/devices",
            {"limit": limit, "cursor": cursor, "tag": tag, "where": where, "online": online},
        )

    def count_devices(self, where: str) -> DeviceCount:
        """Count the devices that a selector matches.

        Arguments:
            where: A selector: an expression that selects devices; at most 4 KiB and 64 terms.

        Errors: J-503 Invalid selector; J-309 Group not found.
        """
        return self._value(_Call("POST", "/job/api/devices/count", body=_given({"where": where}), safe=True))

    def change_devices(
        self,
        *,
        where: Optional[str] = None,
        device_ids: Optional[List[str]] = None,
        add_tags: Optional[List[str]] = None,
        remove_tags: Optional[List[str]] = None,
        attributes: Optional[Dict[str, Optional[Union[str, float, bool]]]] = None,
        dry_run: Optional[bool] = None,
    ) -> DevicesChanged:
        """Change tags and attributes of many devices.

        Of up to 1,000,000 devices that a selector matches, or of those listed. They are changed in batches:
        the call can be repeated if it was interrupted. Each device that changes has its event, as with PUT.

        Arguments:
            where: A selector: an expression that selects devices; at most 4 KiB and 64 terms.
            device_ids: One that does not exist is J-001.
            attributes: Each attribute: its new value, or null to remove it.
            dry_run: Return how many would change, and change nothing.

        Errors: J-503 Invalid selector; J-814 A restricted API key cannot be used for this; J-001 Device not
        found; J-309 Group not found.
        """
        return self._value(
            _Call(
                "POST",
                "/job/api/devices/change",
                query={"dryRun": dry_run},
                body=_given(
                    {
                        "where": where,
                        "deviceIds": device_ids,
                        "addTags": add_tags,
                        "removeTags": remove_tags,
                        "attributes": attributes,
                    },
                ),
                hold=600,
            ),
        )

    def create_device_credential(self, device_id: str) -> DeviceCredential:
        """Create a new token for a device.

        The token is shown only once. It replaces the previous one; a device connected with that one is
        disconnected.

        Errors: J-814 A restricted API key cannot be used for this; J-001 Device not found.
        """
        return self._value(_Call("POST", _path("/job/api/devices/{}/credential", device_id)))

    def revoke_device_credential(self, device_id: str) -> None:
        """Revoke the token of a device.

        The device is disconnected immediately and cannot sign in until it gets a new token. Its certificates
        are rejected from then on, even after it gets a new token, until `allow-certificate`.

        Errors: J-814 A restricted API key cannot be used for this; J-001 Device not found.
        """
        self._value(_Call("DELETE", _path("/job/api/devices/{}/credential", device_id), safe=True))

    def allow_device_certificate(self, device_id: str) -> Device:
        """Accept client certificates of a device again.

        Undoes the effect of revoking the credential on its certificates. A certificate on the revocation list
        remains refused.

        Errors: J-814 A restricted API key cannot be used for this; J-001 Device not found.
        """
        return self._value(_Call("POST", _path("/job/api/devices/{}/allow-certificate", device_id)))

    def import_devices(
        self,
        devices: Union[str, Iterable[ImportedDevice]],
        *,
        dry_run: Optional[bool] = None,
        merge: Optional[bool] = None,
    ) -> ImportResult:
        """Create or replace many devices.

        NDJSON: one device per line, as in PUT plus `deviceId`; at most 100,000 lines and 64 MiB. Each line is
        stored or rejected on its own; the response lists rejected lines. The call can be repeated: a line
        that is already stored is `unchanged`. Or CSV (RFC 4180, UTF-8): a header line with deviceId and any
        of deviceName, tags, timeZone and attributes, then one device per line. Several tags are separated by
        `;`. An empty cell is no value; a number, true or false is one if it is written without quotes, as in
        JSON. CSV leaves the windows of devices as they are. Fields that a line does not have are reset,
        unless `merge` is true; `dry_run` returns which values would be overwritten.

        Arguments:
            devices: Devices, or CSV as text.
            dry_run: Return what would be created and overwritten, and store nothing. Quotas are not checked.
            merge: Of devices that exist, set only the fields and attributes that a line has, as PATCH does;
                without it they are replaced.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        body, content_type = _lines_body(devices)
        return self._value(
            _Call(
                "POST",
                "/job/api/devices/import",
                query={"dryRun": dry_run, "merge": merge},
                body=body,
                content_type=content_type,
                safe=True,
                hold=60,
            ),
        )

    def put_group(
        self,
        group_name: str,
        where: str,
        *,
        description: Optional[str] = None,
        window: Optional[str] = OMIT,
        if_none_match: Optional[str] = None,
    ) -> Group:
        """Create or replace a group.

        A group is a named selector, which other selectors use as `group=name`. Groups may refer to other
        groups, but not to themselves, directly or indirectly.

        Arguments:
            where: A selector: an expression that selects devices; at most 4 KiB and 64 terms.
            window: Name of a window: devices of the group are offered work only while it is open.
            if_none_match: With `*`: only if there is none yet; else J-312.

        Errors: J-503 Invalid selector; J-814 A restricted API key cannot be used for this; J-309 Group not
        found; J-311 Window not found; J-912 Quota exceeded; J-312 The resource was modified: If-Match or
        If-None-Match does not match.
        """
        return self._value(
            _Call(
                "PUT",
                _path("/job/api/groups/{}", group_name),
                headers={"If-None-Match": if_none_match},
                body=_given({"where": where, "description": description}, {"window": window}),
                safe=if_none_match is None,
            ),
        )

    def get_group(self, group_name: str) -> Group:
        """Get a group.

        Errors: J-814 A restricted API key cannot be used for this; J-309 Group not found.
        """
        return self._value(_Call("GET", _path("/job/api/groups/{}", group_name), safe=True))

    def delete_group(self, group_name: str, *, force: Optional[bool] = None) -> None:
        """Delete a group.

        Rejected (J-315) while a group, a job, a schedule or the gate of an unfinished run refers to it,
        unless `force` is true. Then selectors that refer to it are rejected (J-309), schedules are paused,
        and such a gate stays closed.

        Arguments:
            force: Delete it even if something refers to it.

        Errors: J-814 A restricted API key cannot be used for this; J-309 Group not found; J-315 The resource
        is in use.
        """
        self._value(
            _Call("DELETE", _path("/job/api/groups/{}", group_name), query={"force": force}, safe=True),
        )

    def list_groups(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> Listing[Group]:
        """List groups, ordered by name.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._list("/job/api/groups", {"limit": limit, "cursor": cursor})

    def put_schedule(
        self,
        schedule_name: str,
        job_name: str,
        targets: Targets,
        when: When,
        *,
        version: Optional[int] = OMIT,
        parameters: Optional[Dict[str, Any]] = None,
        description: Optional[str] = None,
        rollout: Optional[Rollout] = None,
        approval: Optional[Union[bool, JobApproval]] = None,
        window: Optional[str] = None,
        replaces: Optional[bool] = None,
        priority: Optional[int] = None,
        overlap: Optional[Literal["SKIP", "REPLACE", "QUEUE"]] = None,
        catch_up_seconds: Optional[int] = None,
        jitter_seconds: Optional[int] = None,
        pause_after_failures: Optional[int] = OMIT,
        except_: Optional[List[str]] = None,
        until: Optional[str] = OMIT,
        if_none_match: Optional[str] = None,
    ) -> Schedule:
        """Create or replace a schedule.

        A schedule creates runs: at one time (`at`), by a cron pattern in a time zone (`cron`), or once for
        every device that matches or starts to match (`match`). A paused schedule stays paused when it is
        replaced. At most 1,000 per owner. Needs TRIGGER as well as MANAGE.

        Arguments:
            version: Version of the job; by default, each run uses the current one.
            parameters: Values of the parameters of the job, at most 16 KiB; secret ones are rejected here.
            approval: Its runs are released only after others approve them: true for one approval, or the
                number of approvals. It can add to what the job requires, but not lower it.
            window: Name of the window in which its runs are offered to devices; by default, the window of the
                job.
            replaces: Each run cancels pending executions of the same job on its devices, with the cause
                `superseded`, once it is approved if it needs approval. Default false.
            priority: From 0 to 9; executions of its runs with a higher priority are offered first to a
                device. By default, the priority of the job.
            overlap: A device that still has an unfinished execution of this schedule: SKIP (default) skips
                it, REPLACE cancels a pending one, QUEUE adds another.
            catch_up_seconds: How late an occurrence may run after the service was down; default 3600.
            jitter_seconds: Random delay of up to this many seconds for each occurrence, the same on all
                nodes. Default 0.
            pause_after_failures: Pause it after this many runs in a row in which no device succeeded;
                default: never.
            except_: With cron: dates in its time zone on which it does not run; a range such as
                2026-12-24/2027-01-02 includes both ends.
            until: No runs are created after this time; default: no end.
            if_none_match: With `*`: only if there is none yet; else J-312.

        Errors: J-503 Invalid selector; J-507 Invalid cron pattern or time zone; J-814 A restricted API key
        cannot be used for this; J-001 Device not found; J-301 Job not found; J-309 Group not found; J-311
        Window not found; J-313 Version not found; J-318 Secret not found; J-319 File not found; J-912 Quota
        exceeded; J-312 The resource was modified: If-Match or If-None-Match does not match.
        """
        return self._value(
            _Call(
                "PUT",
                _path("/job/api/schedules/{}", schedule_name),
                headers={"If-None-Match": if_none_match},
                body=_given(
                    {
                        "jobName": job_name,
                        "targets": targets,
                        "when": when,
                        "parameters": parameters,
                        "description": description,
                        "rollout": rollout,
                        "approval": approval,
                        "window": window,
                        "replaces": replaces,
                        "priority": priority,
                        "overlap": overlap,
                        "catchUpSeconds": catch_up_seconds,
                        "jitterSeconds": jitter_seconds,
                        "except": except_,
                    },
                    {"version": version, "pauseAfterFailures": pause_after_failures, "until": until},
                ),
                safe=if_none_match is None,
            ),
        )

    def get_schedule(self, schedule_name: str) -> Schedule:
        """Get a schedule.

        Errors: J-814 A restricted API key cannot be used for this; J-310 Schedule not found.
        """
        return self._value(_Call("GET", _path("/job/api/schedules/{}", schedule_name), safe=True))

    def delete_schedule(self, schedule_name: str) -> None:
        """Delete a schedule.

        Its runs are not affected, and keep its name.

        Errors: J-814 A restricted API key cannot be used for this; J-310 Schedule not found.
        """
        self._value(_Call("DELETE", _path("/job/api/schedules/{}", schedule_name), safe=True))

    def list_schedules(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[Schedule]:
        """List schedules, ordered by name.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._list("/job/api/schedules", {"limit": limit, "cursor": cursor})

    def list_next_occurrences(
        self,
        schedule_name: str,
        *,
        count: Optional[int] = None,
    ) -> List[Occurrence]:
        """List the next occurrences of a schedule.

        Ignores jitter, and whether the schedule is paused. Empty with `match`.

        Arguments:
            count: How many, at most.

        Errors: J-814 A restricted API key cannot be used for this; J-310 Schedule not found.
        """
        return self._value(
            _Call(
                "GET",
                _path("/job/api/schedules/{}/next", schedule_name),
                query={"count": count},
                safe=True,
            ),
        )

    def pause_schedule(self, schedule_name: str) -> Schedule:
        """Pause a schedule.

        It creates no more runs; existing runs continue.

        Errors: J-814 A restricted API key cannot be used for this; J-310 Schedule not found.
        """
        return self._value(_Call("POST", _path("/job/api/schedules/{}/pause", schedule_name), safe=True))

    def resume_schedule(self, schedule_name: str) -> Schedule:
        """Resume a schedule.

        From its next occurrence on; occurrences during the pause are not run. From now on its runs count as
        created by the calling key, which needs TRIGGER as well as MANAGE.

        Errors: J-814 A restricted API key cannot be used for this; J-301 Job not found; J-310 Schedule not
        found.
        """
        return self._value(_Call("POST", _path("/job/api/schedules/{}/resume", schedule_name), safe=True))

    def fire_schedule(self, schedule_name: str) -> Run:
        """Create a run of a schedule now.

        In addition to its occurrences, even while it is paused. Its `overlap` applies: if every device still
        has an unfinished execution of the schedule, the response is J-504.

        Errors: J-503 Invalid selector; J-814 A restricted API key cannot be used for this; J-301 Job not
        found; J-309 Group not found; J-310 Schedule not found; J-502 A request with this Idempotency-Key is
        still in progress; J-504 The selector matches no device; J-912 Quota exceeded.
        """
        return self._run(self._value(_Call("POST", _path("/job/api/schedules/{}/fire", schedule_name))))

    def put_secret(self, secret_name: str, value: str, *, if_none_match: Optional[str] = None) -> Secret:
        """Create or replace a secret.

        Documents use it as `${secrets.NAME}`. The value is encrypted before it is stored and filled in when a
        device gets the document, so a new value reaches executions that are still pending. At most 1,000 per
        owner. Rejected (J-500) while the service has no key to encrypt secrets.

        Arguments:
            value: The value, at most 16 KiB in UTF-8. It is never shown.
            if_none_match: With `*`: only if there is none yet; else J-312.

        Errors: J-814 A restricted API key cannot be used for this; J-912 Quota exceeded; J-312 The resource
        was modified: If-Match or If-None-Match does not match.
        """
        return self._value(
            _Call(
                "PUT",
                _path("/job/api/secrets/{}", secret_name),
                headers={"If-None-Match": if_none_match},
                body=_given({"value": value}),
                safe=if_none_match is None,
            ),
        )

    def get_secret(self, secret_name: str) -> Secret:
        """Get a secret.

        Without the value, which is never shown.

        Errors: J-814 A restricted API key cannot be used for this; J-318 Secret not found.
        """
        return self._value(_Call("GET", _path("/job/api/secrets/{}", secret_name), safe=True))

    def delete_secret(self, secret_name: str) -> None:
        """Delete a secret.

        Rejected (J-315) while the current version of a job, a schedule or an unfinished execution uses it.

        Errors: J-814 A restricted API key cannot be used for this; J-318 Secret not found; J-315 The resource
        is in use.
        """
        self._value(_Call("DELETE", _path("/job/api/secrets/{}", secret_name), safe=True))

    def list_secrets(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[Secret]:
        """List secrets, ordered by name.

        Without the values, which are never shown.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._list("/job/api/secrets", {"limit": limit, "cursor": cursor})

    def put_file_version(
        self,
        file_name: str,
        version: str,
        content: Union[bytes, IO[bytes], FileReference],
        *,
        content_digest: Optional[str] = None,
        digest: Optional[str] = None,
        repr_digest: Optional[str] = None,
        content_range: Optional[str] = None,
    ) -> Union[FileVersion, FileUpload]:
        """Put a version of a file.

        The content, of any type but that of references; or a reference to content that is stored elsewhere. A
        version never changes: the same content again returns 200, other content is rejected (J-320). With
        `Content-Digest` or `Digest`, content that does not match is rejected (J-508) and discarded. With
        `Content-Range` the body is a part: it is kept for a day, `Repr-Digest` is that of the whole content,
        and the last part creates the version.

        Arguments:
            content: Bytes, a file that is open for reading bytes, or a reference to content that is kept
                elsewhere.
            content_digest: `sha-256=:…:`, the sha256 of the content in base64.
            digest: `sha-256=…`, the older form.
            repr_digest: `sha-256=:…:` of the whole content, also with Content-Range.
            content_range: `bytes FIRST-LAST/SIZE` of a part; `bytes */SIZE` queries where the upload
                continues.

        Errors: J-814 A restricted API key cannot be used for this; J-320 The version exists with other
        content; J-323 The upload continues at another byte; J-912 Quota exceeded; J-508 The content does not
        match its digest.
        """
        body, content_type, found_digest = _file_body(content)
        if content_range is None and repr_digest is None and digest is None:
            content_digest = content_digest or found_digest
        return self._value(
            _Call(
                "PUT",
                _path("/job/api/files/{}/{}", file_name, version),
                headers={
                    "Content-Digest": content_digest,
                    "Digest": digest,
                    "Repr-Digest": repr_digest,
                    "Content-Range": content_range,
                },
                body=body,
                content_type=content_type,
                safe=True,
                hold=60,
            ),
        )

    def get_file_version(self, file_name: str, version: str) -> FileVersion:
        """Get a version of a file.

        Errors: J-814 A restricted API key cannot be used for this; J-319 File not found.
        """
        return self._value(_Call("GET", _path("/job/api/files/{}/{}", file_name, version), safe=True))

    def delete_file_version(self, file_name: str, version: str) -> None:
        """Delete a version of a file.

        Rejected (J-315) while the current version of a job, a schedule or an unfinished execution uses it.
        Documents that name no version use the newest.

        Errors: J-814 A restricted API key cannot be used for this; J-319 File not found; J-315 The resource
        is in use.
        """
        self._value(_Call("DELETE", _path("/job/api/files/{}/{}", file_name, version), safe=True))

    def list_files(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[FileVersion]:
        """List files, ordered by name.

        The newest version of each.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._list("/job/api/files", {"limit": limit, "cursor": cursor})

    def list_file_versions(
        self,
        file_name: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[FileVersion]:
        """List versions of a file, the newest first.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this; J-319 File not found.
        """
        return self._list(_path("/job/api/files/{}", file_name), {"limit": limit, "cursor": cursor})

    def get_file_content(self, file_name: str, version: str) -> Content:
        """Get the content of a version of a file.

        With `Range`, `If-Range` and `If-None-Match`. A reference is answered by a redirect.

        Errors: J-814 A restricted API key cannot be used for this; J-319 File not found; J-509 The range is
        outside of the content.
        """
        return self._content(
            _Call(
                "GET",
                _path("/job/api/files/{}/{}/content", file_name, version),
                accept="application/octet-stream, ",
                safe=True,
            ),
        )

    def put_window(
        self,
        window_name: str,
        cron: str,
        duration_minutes: int,
        *,
        time_zone: Optional[str] = None,
        cutoff_minutes: Optional[int] = None,
        except_: Optional[List[str]] = None,
        if_none_match: Optional[str] = None,
    ) -> Window:
        """Create or replace a window.

        Outside a window nothing is offered to devices; running executions continue. A change takes effect
        immediately, executions that wait.

        Arguments:
            cron: When it opens: minute, hour, day of month, month, day of week.
            duration_minutes: How long it stays open, in minutes of elapsed time; at most a day.
            time_zone: IANA time zone of the pattern and the exceptions, or `device` (default) for the time
                zone of each device.
            cutoff_minutes: Nothing new is offered in this many minutes before it closes; default 0.
            except_: Local dates on which it is closed; a range includes both ends.
            if_none_match: With `*`: only if there is none yet; else J-312.

        Errors: J-507 Invalid cron pattern or time zone; J-814 A restricted API key cannot be used for this;
        J-912 Quota exceeded; J-312 The resource was modified: If-Match or If-None-Match does not match.
        """
        return self._value(
            _Call(
                "PUT",
                _path("/job/api/windows/{}", window_name),
                headers={"If-None-Match": if_none_match},
                body=_given(
                    {
                        "cron": cron,
                        "durationMinutes": duration_minutes,
                        "timeZone": time_zone,
                        "cutoffMinutes": cutoff_minutes,
                        "except": except_,
                    },
                ),
                safe=if_none_match is None,
            ),
        )

    def get_window(self, window_name: str) -> Window:
        """Get a window.

        Errors: J-814 A restricted API key cannot be used for this; J-311 Window not found.
        """
        return self._value(_Call("GET", _path("/job/api/windows/{}", window_name), safe=True))

    def delete_window(self, window_name: str) -> None:
        """Delete a window.

        Rejected (J-315) while a job, a schedule, a device, a group or an unfinished run uses it.

        Errors: J-814 A restricted API key cannot be used for this; J-311 Window not found; J-315 The resource
        is in use.
        """
        self._value(_Call("DELETE", _path("/job/api/windows/{}", window_name), safe=True))

    def list_windows(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[Window]:
        """List windows, ordered by name.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._list("/job/api/windows", {"limit": limit, "cursor": cursor})

    def list_window_times(
        self,
        window_name: str,
        *,
        count: Optional[int] = None,
        time_zone: Optional[str] = None,
        after: Optional[str] = None,
    ) -> WindowTimes:
        """List when a window is open.

        The current opening, if there is one, and the next ones.

        Arguments:
            count: How many; default 10.
            time_zone: For a window in the time zone of each device: the time zone to show; default UTC.
            after: Only openings that close after this; default: now.

        Errors: J-507 Invalid cron pattern or time zone; J-814 A restricted API key cannot be used for this;
        J-311 Window not found.
        """
        return self._value(
            _Call(
                "GET",
                _path("/job/api/windows/{}/next", window_name),
                query={"count": count, "timeZone": time_zone, "after": after},
                safe=True,
            ),
        )

    def create_enrollment(
        self,
        *,
        name: Optional[str] = None,
        max_uses: Optional[int] = None,
        expires_in_seconds: Optional[int] = None,
        tags: Optional[List[str]] = None,
        device_id_prefix: Optional[str] = None,
    ) -> CreatedEnrollment:
        """Create a token with which devices enroll themselves.

        A device sends it once, to POST /things/{thing}/enroll, and receives its own token.

        Arguments:
            max_uses: How many devices may enroll; default 1.
            expires_in_seconds: Default 86400, one day.
            tags: Tags of every device it creates.
            device_id_prefix: Required prefix of the deviceId of every device. Without it the token works for
                any deviceId without a credential, including registered devices: set one if you can.

        Errors: J-814 A restricted API key cannot be used for this; J-912 Quota exceeded.
        """
        return self._value(
            _Call(
                "POST",
                "/job/api/enrollments",
                body=_given(
                    {
                        "name": name,
                        "maxUses": max_uses,
                        "expiresInSeconds": expires_in_seconds,
                        "tags": tags,
                        "deviceIdPrefix": device_id_prefix,
                    },
                ),
            ),
        )

    def list_enrollments(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[Enrollment]:
        """List enrollments, including expired and revoked ones.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._list("/job/api/enrollments", {"limit": limit, "cursor": cursor})

    def revoke_enrollment(self, enrollment_id: str) -> None:
        """Revoke an enrollment.

        No more devices can enroll with it. Devices that have enrolled keep their tokens.

        Errors: J-814 A restricted API key cannot be used for this; J-002 Enrollment not found.
        """
        self._value(_Call("DELETE", _path("/job/api/enrollments/{}", enrollment_id), safe=True))

    def create_key(
        self,
        key_name: str,
        *,
        scopes: Optional[List[Scope]] = None,
        expires_at: Optional[str] = OMIT,
        owner_id: Optional[str] = None,
        jobs: Optional[List[str]] = None,
        where: Optional[str] = None,
        addresses: Optional[List[str]] = None,
    ) -> CreatedApiKey:
        """Create an API key.

        A key can only grant scopes it holds, and expires no later than the key that creates it. Creating a
        key for another owner needs ADMIN.

        Arguments:
            scopes: What the key may do; default none. A key can only grant scopes it holds.
            expires_at: Default: the expiry of the calling key, or never. A key cannot outlive the key that
                created it, so a later instant is rejected.
            owner_id: Default: the owner of the calling key. Any other owner needs ADMIN.
            jobs: Only these jobs, their runs and their executions exist for the key. Names, or beginnings of
                names with `*` at the end. Not with ADMIN.
            where: Only the devices that this selector matches exist for the key, with their executions and
                the counts of those. It is judged by tags, by device ids and by attributes that the owner has
                set: a bare name means `own.NAME`. Reported attributes, device names, `online` and groups are
                rejected. Not with ADMIN.
            addresses: The key is valid only for requests from these addresses or ranges.

        Errors: J-806 Owner not found; J-912 Quota exceeded.
        """
        return self._value(
            _Call(
                "POST",
                "/job/api/keys",
                body=_given(
                    {
                        "keyName": key_name,
                        "scopes": scopes,
                        "ownerId": owner_id,
                        "jobs": jobs,
                        "where": where,
                        "addresses": addresses,
                    },
                    {"expiresAt": expires_at},
                ),
            ),
        )

    def list_keys(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        owner_id: Optional[str] = None,
    ) -> Listing[ApiKey]:
        """List API keys, including revoked and expired ones.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-806 Owner not found.
        """
        return self._list("/job/api/keys", {"limit": limit, "cursor": cursor, "ownerId": owner_id})

    def get_own_key(self) -> OwnKey:
        """Get the key of this call, and the person who acts by it.

        Works with any valid key or session, whatever its scopes.
        """
        return self._value(_Call("GET", "/job/api/keys/self", safe=True))

    def revoke_key(self, key_id: str, *, descendants: Optional[bool] = None) -> Optional[RevokedKeys]:
        """Revoke an API key.

        Takes effect with the next request; sessions of the key end with it. Only an ADMIN key can revoke an
        ADMIN key, and the last valid ADMIN key cannot be revoked. Keys that it has created remain valid, and
        `createdBy` names it; so do its schedules and its runs with `startAt`. `descendants=True` revokes the
        keys too, and pauses the schedules that all of them have put and their runs that have not started; the
        response lists these.

        Arguments:
            descendants: Also revoke the keys it has created, those that these have created, and so on, and
                all their enrollments; pause their schedules and those of their runs that have not started.

        Errors: J-805 API key not found; J-812 The last ADMIN key cannot be revoked.
        """
        return self._value(
            _Call("DELETE", _path("/job/api/keys/{}", key_id), query={"descendants": descendants}, safe=True),
        )

    def create_owner(self, owner_name: str) -> Owner:
        """Create an owner.

        Errors: J-814 A restricted API key cannot be used for this; J-807 Owner name is already in use.
        """
        return self._value(_Call("POST", "/job/api/owners", body=_given({"ownerName": owner_name})))

    def list_owners(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> Listing[Owner]:
        """List owners.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._list("/job/api/owners", {"limit": limit, "cursor": cursor})

    def sign_in(self, *, api_key: Optional[str] = None, ticket: Optional[str] = None) -> OwnKey:
        """Exchange an API key or a ticket for a session.

        The session is an HttpOnly cookie. It ends after 12 hours, when it is not used for
        `session-idle-timeout`, at sign-out, when its key is revoked or expires, and with the session that the
        ticket came from.

        Arguments:
            ticket: Can be used once.

        Errors: J-808 Session or ticket is invalid or has expired; J-809 Cross-origin request refused; J-912
        Quota exceeded.
        """
        return self._value(
            _Call("POST", "/job/api/session", body=_given({"apiKey": api_key, "ticket": ticket})),
        )

    def sign_out(self) -> None:
        """End the session of this browser.

        Succeeds even if the session has already ended. The cookie is deleted.

        Errors: J-809 Cross-origin request refused.
        """
        self._value(_Call("DELETE", "/job/api/session", safe=True))

    def create_sign_in_ticket(self) -> SignInTicket:
        """Create a ticket that signs in once, as the key of this call.

        Valid for ten minutes. Neither the ticket nor the session that it creates outlives the session or key
        of this call. `/sign-in#ticket=…` is a sign-in link: browsers do not send the part after the #, so it
        is in no log.

        Errors: J-912 Quota exceeded.
        """
        return self._value(_Call("POST", "/job/api/session/tickets"))

    def check_sign_in_ticket(self, ticket: str) -> TicketFacts:
        """Show the key that a ticket signs in with.

        The ticket remains valid. A page can ask before a ticket replaces the session of its browser.

        Errors: J-808 Session or ticket is invalid or has expired; J-809 Cross-origin request refused.
        """
        return self._value(_Call("POST", "/job/api/session/tickets/check", body=_given({"ticket": ticket})))

    def list_sessions(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        owner_id: Optional[str] = None,
    ) -> Listing[Session]:
        """List the sessions of an owner that are still valid.

        Sessions of another owner need ADMIN.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this; J-806 Owner not found.
        """
        return self._list("/job/api/sessions", {"limit": limit, "cursor": cursor, "ownerId": owner_id})

    def end_session(self, session_id: str) -> None:
        """End a session.

        Takes effect with the next request. Sessions and tickets that were created from it end too. Only an
        ADMIN key can end a session of an ADMIN key.

        Errors: J-814 A restricted API key cannot be used for this; J-811 Session not found.
        """
        self._value(_Call("DELETE", _path("/job/api/sessions/{}", session_id), safe=True))

    def exchange_token(
        self,
        subject_token: str,
        subject_token_type: Literal["urn:ietf:params:oauth:token-type:id_token", "urn:ietf:params:oauth:token-type:jwt"],
        *,
        requested_token_type: Optional[Literal["urn:ietf:params:oauth:token-type:access_token"]] = None,
        audience: Optional[str] = None,
        access_token: Optional[str] = None,
    ) -> ExchangedToken:
        """Exchange a token of an issuer for access for 15 minutes (RFC 8693).

        For tokens that match a rule of `oidc-trust`, such as those of CI jobs, and for ID tokens of people
        from `oidc-issuer`. Whatever does not match is J-802.

        Arguments:
            subject_token: The token of the issuer.
            audience: Name or id of the owner, where several are possible.
            access_token: Of the sign-in of a person, for issuers that name groups at /userinfo only.

        Errors: J-809 Cross-origin request refused; J-912 Quota exceeded; J-813 The issuer cannot be reached.
        """
        return self._value(
            _Call(
                "POST",
                "/job/api/session/exchange",
                body=urllib.parse.urlencode(
                    _given(
                        {
                            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                            "subject_token": subject_token,
                            "subject_token_type": subject_token_type,
                            "requested_token_type": requested_token_type,
                            "audience": audience,
                            "access_token": access_token,
                        },
                    ),
                ).encode(),
                content_type="application/x-www-form-urlencoded",
            ),
        )

    def get_fleet(self) -> Fleet:
        """Get pending and running executions, results of the last hour and the history of the last day."""
        return self._value(_Call("GET", "/job/api/fleet", safe=True))

    def get_fleet_groups(self, *, by: Optional[str] = None, limit: Optional[int] = None) -> FleetGroups:
        """Count devices by tag, group or attribute, and by state, for any number of devices.

        The response is cached for up to twenty times as long as counting takes: `asOf` is the time of the
        count.

        Arguments:
            by: tag, group (the first 100 groups by name), or the name of an attribute, such as timeZone: the
                value of the owner, else the reported one.
            limit: Groups at most.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._value(_Call("GET", "/job/api/fleet/groups", query={"by": by, "limit": limit}, safe=True))

    def list_fleet_devices(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[FleetDevice]:
        """List devices with their latest execution, in a compact form.

        Up to 10,000 devices per page.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._list("/job/api/fleet/devices", {"limit": limit, "cursor": cursor})

    def get_run_timeline(self, run_id: int, *, buckets: Optional[int] = None) -> RunTimeline:
        """Get how the counts of a run changed over time.

        Counts per state at the end of each of up to 500 buckets between the launch and the end of the run, or
        now. Of a run of more than 20,000 executions a sample is read.

        Arguments:
            buckets: At most this many buckets of equal length.

        Errors: J-304 Run not found.
        """
        return self._value(
            _Call("GET", _path("/job/api/runs/{}/timeline", run_id), query={"buckets": buckets}, safe=True),
        )

    def get_stats(
        self,
        *,
        launched_after: Optional[str] = None,
        launched_before: Optional[str] = None,
        job_name: Optional[str] = None,
        buckets: Optional[int] = None,
    ) -> Stats:
        """Get counts, success rate and durations of executions over time and by job.

        Of executions launched in a range of time. Reads at most the newest 50,000 runs of the range (see
        `completeFrom`) and takes durations from at most 20,000 executions, evenly chosen.

        Arguments:
            launched_after: Start of the range; default: one day before its end.
            launched_before: End of the range; default: now.
            job_name: Only executions of this job.
            buckets: At most this many buckets of equal length.
        """
        return self._value(
            _Call(
                "GET",
                "/job/api/stats",
                query={
                    "launchedAfter": launched_after,
                    "launchedBefore": launched_before,
                    "jobName": job_name,
                    "buckets": buckets,
                },
                safe=True,
            ),
        )

    def list_bridges(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Listing[Bridge]:
        """List the bridges to your own MQTT brokers, and whether they work.

        Those whose devices belong to your owner, by name. They are defined in the settings of the service.
        Every node reports all of them.

        Arguments:
            cursor: nextCursor of the previous page.

        Errors: J-814 A restricted API key cannot be used for this.
        """
        return self._list("/job/api/bridges", {"limit": limit, "cursor": cursor})

    def livez(self) -> LivezResult:
        """Liveness: the process is running."""
        return self._value(_Call("GET", "/livez", safe=True))

    def readyz(self) -> LivezResult:
        """Readiness: the storage is writable and the service is not stopping.

        Errors: J-910 Service is stopping.
        """
        return self._value(_Call("GET", "/readyz", safe=True))

    def version(self) -> Version:
        """The version of the service and of its API."""
        return self._value(_Call("GET", "/version", safe=True))

    def _run(self, value: Any) -> Any:
        return Run(self, value) if isinstance(value, dict) and "runId" in value else value

    def _list(self, path: str, query: Dict[str, Any], wrap: Callable[[Any], Any] = lambda item: item) -> Any:
        def fetch(cursor: Optional[str]) -> Page:
            value = self._value(_Call("GET", path, query={**query, "cursor": cursor}, safe=True))
            return Page([wrap(item) for item in value["items"]], value["nextCursor"])

        return Listing(fetch, query.get("cursor"))

    def _events(self, query: Dict[str, Any]) -> Iterator[Event]:
        position: Optional[int] = query["after"]
        is_open = False
        failures = 0
        while True:
            cause = None
            try:
                for event_id, data in self._event_blocks(query, position):
                    is_open, failures = True, 0
                    before = -1 if position is None else position
                    position = max(before, before if event_id is None else event_id)
                    event = None if data is None else json.loads(data)
                    if event is not None and event["eventId"] > before:
                        yield event
            except JobcastClientError as error:
                status = getattr(error, "status", 0)
                may_retry = _is_temporary(error) and (is_open or failures < self._max_retries)
                if not may_retry and not (is_open and status >= 500):
                    raise
                cause = error
            failures += 1
            time.sleep(_pause_before(failures, cause))

    def _event_blocks(
        self, query: Dict[str, Any], position: Optional[int]
    ) -> Iterator[Tuple[Optional[int], Optional[str]]]:
        headers = {"Last-Event-ID": position}
        call = _Call("GET", "/job/api/events", query=query, headers=headers, accept="text/event-stream, ")
        # The service sends something every 15 s, at least a heartbeat.
        with self._open(call, timeout=45) as response:
            if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
                raise UnexpectedAnswer("/job/api/events was not answered with events", response.status)
            event_id: Optional[int] = None
            data: List[str] = []
            while True:
                with _connection_errors(call.what):
                    line = response.readline().decode()
                if line == "":
                    return
                name, _, value = line.rstrip("\r\n").partition(":")
                value = value[1:] if value.startswith(" ") else value
                if name == "id" and value.isdigit():
                    event_id = int(value)
                elif name == "data":
                    data.append(value)
                elif line.rstrip("\r\n") == "":
                    if event_id is not None or data:
                        yield event_id, "\n".join(data) if data else None
                    event_id, data = None, []


def _given(fields: Mapping[str, Any], nullable: Mapping[str, Any] = {}) -> Dict[str, Any]:
    """The arguments that were given, as a body."""
    kept = {name: value for name, value in fields.items() if value is not None and value is not OMIT}
    return {**kept, **{name: value for name, value in nullable.items() if value is not OMIT}}


def _file_body(content: Union[bytes, IO[bytes], Mapping[str, Any]]) -> Tuple[Any, str, Optional[str]]:
    """What is sent, its type, and the header by which the service verifies it."""
    if isinstance(content, Mapping):
        return json.dumps(content).encode(), "application/vnd.jobcast.file-reference+json", None
    sha256 = hashlib.sha256()
    if isinstance(content, (bytes, bytearray)):
        content = bytes(content)
        sha256.update(content)
    else:
        content.seek(0)
        for piece in iter(lambda: content.read(1 << 20), b""):
            sha256.update(piece)
    digest = base64.b64encode(sha256.digest()).decode()
    return content, "application/octet-stream", f"sha-256=:{digest}:"


def _lines_body(devices: Union[str, Iterable[Mapping[str, Any]]]) -> Tuple[bytes, str]:
    """CSV as it is, or dicts as lines of JSON."""
    if isinstance(devices, str):
        return devices.encode(), "text/csv"
    return "\n".join(json.dumps(device) for device in devices).encode(), "application/x-ndjson"
