// Keys under which calls are made: one key, one run, also when the same call reaches two nodes at once.

import { type EarlierCall, judgeKey } from '../../domain/launch-run.ts'
import type { Trigger } from '../../domain/ports/triggers.ts'
import { select } from '../schema/column.ts'
import { idempotencyKey } from '../schema/tables.ts'
import type { Queries } from './rows.ts'
import type { Entry } from './trigger-group.ts'

// A key that is over its time is taken over by the new call. A twin on another node that has not committed yet is
// waited for here: then its key is there, or it never was.
const CLAIM = `
  INSERT INTO idempotency_key (owner_no, idempotency_key, request_hash, run_id, created_at)
  SELECT owner_no, idempotency_key, decode(request_hash, 'hex'), run_id, created_at FROM json_to_recordset($1::json)
    AS new (owner_no int, idempotency_key text, request_hash text, run_id bigint, created_at bigint)
  ON CONFLICT (owner_no, idempotency_key) DO UPDATE SET request_hash = excluded.request_hash,
    run_id = excluded.run_id, created_at = excluded.created_at
  WHERE idempotency_key.created_at <= $2::bigint`
const KEY = select(idempotencyKey.fields)
const FIND = `
  SELECT ${KEY}
  FROM unnest($1::int[], $2::text[]) AS wanted (owner_no, idempotency_key)
    JOIN idempotency_key USING (owner_no, idempotency_key)`

type Keyed = { index: number; ownerNo: number; idempotency: NonNullable<Trigger['idempotency']> }

/** For each trigger whose key belongs to an earlier call what that means; the others with a key have taken it. */
export async function claimKeys(
  transaction: Queries,
  triggers: Trigger[],
  entries: Entry[],
): Promise<(EarlierCall | undefined)[]> {
  const keyed = triggers.flatMap(({ ownerNo, idempotency }, index): Keyed[] =>
    idempotency ? [{ index, ownerNo, idempotency }] : [],
  )
  if (keyed.length === 0) return []
  const claims = claimsOf(keyed, triggers, entries)
  // All calls of a group come in at about the same time; the oldest of them decides what is over its time.
  const validAfter = Math.min(...keyed.map(({ idempotency }) => idempotency.validAfter))
  const [, found] = await Promise.all([
    transaction.query(CLAIM, [JSON.stringify([...claims.values()].sort(byKey)), validAfter]),
    transaction.query(FIND, [
      keyed.map(({ ownerNo }) => ownerNo),
      keyed.map(({ idempotency }) => idempotency.key),
    ]),
  ])
  const rows = new Map(found.map(KEY.read).map((row) => [textOf(row.ownerNo, row.key), row]))
  const outcomes: (EarlierCall | undefined)[] = []
  for (const { index, ownerNo, idempotency } of keyed) {
    const text = textOf(ownerNo, idempotency.key)
    const row = rows.get(text)
    const claim = claims.get(text)
    // One that this group has claimed is not known to the calls before the one that claims it.
    const isOurs = claim !== undefined && claim.run_id === row?.runId
    if (row === undefined || row.createdAt <= validAfter || (isOurs && index <= claim.index)) continue
    outcomes[index] = judgeKey(row, idempotency.requestHash)
  }
  return outcomes
}

type Claim = {
  index: number
  owner_no: number
  idempotency_key: string
  run_id: number
  request_hash: string
  created_at: number
}

/** The first call with a key that would make something takes it; one that is refused does not use it up. */
function claimsOf(keyed: Keyed[], triggers: Trigger[], entries: Entry[]): Map<string, Claim> {
  const claims = new Map<string, Claim>()
  for (const { index, ownerNo, idempotency } of keyed) {
    const [entry, trigger] = [entries[index], triggers[index]]
    const text = textOf(ownerNo, idempotency.key)
    if (!entry || !trigger || 'kind' in entry || claims.has(text)) continue
    claims.set(text, {
      index,
      owner_no: ownerNo,
      idempotency_key: idempotency.key,
      run_id: entry.run.runId,
      request_hash: Buffer.from(idempotency.requestHash).toString('hex'),
      created_at: trigger.launchedAt,
    })
  }
  return claims
}

function byKey(one: Claim, other: Claim): number {
  if (one.owner_no !== other.owner_no) return one.owner_no - other.owner_no
  return one.idempotency_key < other.idempotency_key ? -1 : 1
}

function textOf(ownerNo: number, key: string): string {
  return `${ownerNo} ${key}`
}
