// Idempotency keys: one run per key, even if the same call reaches two nodes at once.

import { type EarlierCall, judgeKey } from '../../domain/trigger/launch-run.ts'
import type { Trigger } from '../../domain/trigger/trigger.ts'
import { type Queries, recordSet } from '../queries.ts'
import { select, text } from '../schema/column.ts'
import { idempotencyKey } from '../schema/tables.ts'
import type { Entry } from './trigger-group.ts'

// A new call takes over an expired key. If the same call is in progress on another node, this waits for its commit or rollback.
const { requestHash, ...plain } = idempotencyKey.fields
const CLAIM = `
  INSERT INTO idempotency_key (owner_no, idempotency_key, request_hash, run_id, created_at)
  SELECT "ownerNo", key, decode(hash, 'hex'), "runId", "createdAt" FROM ${recordSet('claims', { ...plain, hash: text() })}
  ON CONFLICT (owner_no, idempotency_key) DO UPDATE SET request_hash = excluded.request_hash,
    run_id = excluded.run_id, created_at = excluded.created_at
  WHERE idempotency_key.created_at <= CAST(:validAfter AS bigint)` as const
const KEY = select(idempotencyKey.fields)
const FIND = `
  SELECT ${KEY} FROM unnest(CAST(:ownerNos AS int[]), CAST(:keys AS text[])) AS wanted (owner_no, idempotency_key)
    JOIN idempotency_key USING (owner_no, idempotency_key)` as const

type Keyed = { index: number; ownerNo: number; idempotency: NonNullable<Trigger['idempotency']> }

/** Finds earlier calls with the same keys, so that repeated calls do not use up ids. */
export async function findEarlierCalls(
  queries: Queries,
  triggers: Trigger[],
): Promise<(EarlierCall | undefined)[]> {
  const keyed = keyedOf(triggers)
  if (keyed.length === 0) return []
  const rows = await findKeys(queries, keyed)
  return triggers.map(({ ownerNo, idempotency }) => {
    const row = idempotency ? rows.get(textOf(ownerNo, idempotency.key)) : undefined
    if (!idempotency || row === undefined || row.createdAt <= idempotency.validAfter) return undefined
    return judgeKey(row, idempotency.requestHash)
  })
}

/** Returns the earlier call for each trigger whose key was used before; all other triggers with a key claim it. */
export async function claimKeys(
  queries: Queries,
  triggers: Trigger[],
  entries: Entry[],
): Promise<(EarlierCall | undefined)[]> {
  const keyed = keyedOf(triggers).filter(({ index }) => !isEarlier(entries[index]))
  if (keyed.length === 0) return []
  const claims = claimsOf(keyed, entries)
  // All calls of a group arrive at about the same time; the oldest one determines which keys are expired.
  const validAfter = Math.min(...keyed.map(({ idempotency }) => idempotency.validAfter))
  const [, rows] = await Promise.all([
    queries.run(CLAIM, { claims: [...claims.values()].sort(byKey), validAfter }),
    findKeys(queries, keyed),
  ])
  const outcomes: (EarlierCall | undefined)[] = []
  for (const { index, ownerNo, idempotency } of keyed) {
    const name = textOf(ownerNo, idempotency.key)
    const row = rows.get(name)
    const claim = claims.get(name)
    // A key that this group has claimed does not affect calls before the one that claims it.
    const isOurs = claim !== undefined && claim.runId === row?.runId
    if (row === undefined || row.createdAt <= validAfter || (isOurs && index <= claim.index)) continue
    outcomes[index] = judgeKey(row, idempotency.requestHash)
  }
  return outcomes
}

function keyedOf(triggers: Trigger[]): Keyed[] {
  return triggers.flatMap(({ ownerNo, idempotency }, index): Keyed[] =>
    idempotency ? [{ index, ownerNo, idempotency }] : [],
  )
}

function isEarlier(entry: Entry | undefined): boolean {
  return (
    entry !== undefined &&
    'kind' in entry &&
    (entry.kind === 'made-before' || entry.kind === 'idempotency-key-reused')
  )
}

async function findKeys(queries: Queries, keyed: Keyed[]) {
  const found = await queries.all(KEY, FIND, {
    ownerNos: keyed.map(({ ownerNo }) => ownerNo),
    keys: keyed.map(({ idempotency }) => idempotency.key),
  })
  return new Map(found.map((row) => [textOf(row.ownerNo, row.key), row]))
}

type Claim = Pick<ReturnType<typeof KEY.read>, keyof typeof plain> & { index: number; hash: string }

/** The first call with a key that creates something claims it; a refused call does not use it up. */
function claimsOf(keyed: Keyed[], entries: Entry[]): Map<string, Claim> {
  const claims = new Map<string, Claim>()
  for (const { index, ownerNo, idempotency } of keyed) {
    const entry = entries[index]
    const name = textOf(ownerNo, idempotency.key)
    if (entry === undefined || 'kind' in entry || claims.has(name)) continue
    const hash = Buffer.from(idempotency.requestHash).toString('hex')
    const { runId } = entry.run
    const { madeAt: createdAt } = idempotency
    claims.set(name, { index, ownerNo, key: idempotency.key, runId, createdAt, hash })
  }
  return claims
}

function byKey(one: Claim, other: Claim): number {
  if (one.ownerNo !== other.ownerNo) return one.ownerNo - other.ownerNo
  return one.key < other.key ? -1 : 1
}

function textOf(ownerNo: number, key: string): string {
  return `${ownerNo} ${key}`
}
