// Ends an execution whose document cannot be resolved, because the device has lost an attribute that it needs, a secret or file was
// deleted, or the bucket is set otherwise.

import { service } from '../access/principal.ts'
import type { Store } from '../common/ports/store.ts'
import type { DeviceKey } from '../device/device-key.ts'
import type { Moment } from './execution.ts'
import { type NotifyDeps, notifyTaken } from './notify-moved.ts'

type UnresolvedDeps = NotifyDeps & { store: Pick<Store, 'moveExecution'>; moment: () => Moment }

/** `missing`: placeholders without a value, as written in the document. */
export type Unresolved = DeviceKey & { jobExecutionId: number; missing: string }

/** Cancels the execution, unless it has ended meanwhile. */
export async function endUnresolved(
  deps: UnresolvedDeps,
  { ownerNo, deviceId, jobExecutionId, missing }: Unresolved,
): Promise<void> {
  const event = 'force-cancel'
  const by = { moment: deps.moment(), actor: service, reason: reasonFor(missing) }
  const move = { ownerNo, jobExecutionId, event, ...by } as const
  const outcome = await deps.store.moveExecution(move)
  if (outcome.kind !== 'moved') return
  const { runId, execState } = outcome.execution
  notifyTaken(deps, [{ ownerNo, deviceId, jobExecutionId, runId, from: outcome.from, execState }])
}

const namedAtMost = 10

function reasonFor(missing: string): string {
  const attributes = namesIn(missing, '${device.attributes.')
  if (attributes) return `the device has no attribute ${attributes}, which the document needs`
  const secrets = namesIn(missing, '${secrets.')
  if (secrets) return `there is no secret ${secrets}, which the document needs`
  const files = namesIn(missing, '${file.')
  if (files) return `there is no file for ${files}, which the document needs`
  if (missing.includes('${aws:')) {
    return 'the settings files-s3, files-s3-direct and files-s3-placeholders do not permit an object that the document names'
  }
  return 'the document cannot be resolved for the device'
}

function namesIn(missing: string, opening: string): string {
  const found = missing.split(', ').filter((each) => each.startsWith(opening))
  const names = [...new Set(found.map((each) => each.slice(opening.length, -1)))]
  return names.slice(0, namedAtMost).join(', ') + (names.length > namedAtMost ? ', …' : '')
}
