"""Verifies an export of the audit: python verify_audit.py EXPORT CHECKPOINT [KEPT-DAYS] (needs: pip install cryptography)"""
import base64, datetime, hashlib, json, sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FIELDS = ["seal", "ownerId", "at", "firstAuditId", "lastAuditId", "entries", "root", "previous", "keyId"]

def sha(data):
    return hashlib.sha256(data).digest()

def unbase64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

def signed_text(seal):
    body = {field: seal[field] for field in FIELDS}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()

def merkle_root(level):
    while len(level) > 1:
        pairs = [sha(b"\x01" + level[i] + level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2:]
    return level[0].hex()

def require(fits, audit_id, because):
    if not fits:
        print(f"The audit log is damaged from entry {audit_id} on: {because}.")
        sys.exit(6)

checkpoint = json.load(open(sys.argv[2], encoding="utf-8"))
key = Ed25519PublicKey.from_public_bytes(unbase64(checkpoint["publicKey"]))
kept = datetime.timedelta(days=int(sys.argv[3]) if len(sys.argv) > 3 else 400, hours=-1)  # clocks differ
purged_before = datetime.datetime.now(datetime.timezone.utc) - kept
pending, begin, first, last, last_id = [], None, None, None, 0
for line in open(sys.argv[1], "rb"):
    value = json.loads(line)
    if "auditId" in value:
        require(value["auditId"] > last_id, value["auditId"], "the entry is not behind the one before it")
        last_id = value["auditId"]
        pending.append((last_id, sha(b"\x00" + line.rstrip(b"\n"))))
        continue
    seal, start = value, pending[0][0] if pending else value["firstAuditId"]
    try:
        key.verify(unbase64(seal["signature"]), signed_text(seal))
    except InvalidSignature:
        require(False, start, f"seal {seal['seal']} is not signed by the key of the checkpoint")
    require(seal["ownerId"] == checkpoint["ownerId"], start, "the seal is of another owner")
    if last:
        continues = seal["seal"] == last["seal"] + 1 and seal["previous"] == sha(signed_text(last)).hex()
        require(continues, start, f"seal {seal['seal']} does not continue the seal before it")
    if seal["seal"] == checkpoint["seal"]:
        require(signed_text(seal) == signed_text(checkpoint), start, "the history was written twice")
    begin = begin or seal
    if not last and not pending:  # the newest seal that was purged
        is_old = datetime.datetime.fromisoformat(seal["at"].replace("Z", "+00:00")) < purged_before
        require(is_old, start, "the beginning is missing")
        last, last_id = seal, seal["lastAuditId"]
        continue
    leaves = base64.b64decode(seal["leaves"])
    hashes = [leaves[i:i + 32] for i in range(0, len(leaves), 32)]
    require(hashes and merkle_root(hashes) == seal["root"], start, f"seal {seal['seal']} has another root")
    for (audit_id, found), sealed in zip(pending, hashes):
        require(found == sealed, audit_id, f"seal {seal['seal']} has other entries")
    require(len(pending) == len(hashes), seal["lastAuditId"], f"seal {seal['seal']} has other entries")
    pending, first, last = [], first or seal, seal
require(not pending, pending and pending[0][0], "the last entries have no seal")
require(first, checkpoint["firstAuditId"], "there is no seal with its entries")
require(last["seal"] >= checkpoint["seal"], last_id + 1, "the end is missing")
require(begin["seal"] <= checkpoint["seal"], first["firstAuditId"], "the checkpoint is older than the first seal")
require(begin is not first or first["seal"] == 1, first["firstAuditId"], "the beginning is missing")
print(f"The audit log is intact: up to seal {last['seal']}, entry {last_id}.")
