// Pauses a scheduled run whose key was revoked while the run was created, so that it does not start automatically.

import type { NewRun } from '@jobcast/contract'
import type { Caller } from '../access/caller.ts'
import { service } from '../access/principal.ts'
import type { Store } from '../common/ports/store.ts'
import type { Moment } from '../execution/execution.ts'
import { pauseRollout } from '../rollout/judge-rollout.ts'

export type HoldDeps = {
  store: Pick<Store, 'findApiKey' | 'getRollout' | 'changeRollout'>
  moment: () => Moment
}

export async function holdIfRevoked(
  { store, moment }: HoldDeps,
  { ownerNo, keyId }: Caller,
  { startAt }: Pick<NewRun, 'startAt'>,
  runId: number,
): Promise<void> {
  if (startAt === undefined) return
  const key = await store.findApiKey({ keyId })
  if (key?.revokedAt === null) return
  for (;;) {
    const before = (await store.getRollout({ ownerNo, runId }))?.rollout
    if (before?.status.state !== 'SCHEDULED') return
    const because = 'its key was revoked while the run was created'
    const status = pauseRollout(before.status, { rule: 'PRINCIPAL', because, by: service })
    const details = { wave: 1, released: 0, because, principal: service }
    const events = [{ type: 'run.paused', details } as const]
    if (await store.changeRollout({ before, status, nextAt: null, events, moment: moment() })) return
  }
}
