// The gate after a wave of a run: when it opened, its unmet conditions, or its requirements.

import type { RolloutProgress, Run } from '@jobcast/client'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { RelativeTime } from '../parts/relative-time.tsx'
import { parseTime } from '../parts/time.ts'
import { useSeconds } from '../parts/use-seconds.ts'
import { GateRow } from './gate-row.tsx'
import { needsOfGate, waitsOfGate } from './gate-words.ts'

/** `index`: the wave before the gate. */
export type GateProps = { run: Run; rollout: RolloutProgress; index: number }

/** There are no events of the run for reports of devices and the begin of a soak time. */
const pollMs = 5000

export default function GateOfRun({ run: { runId }, rollout, index }: GateProps) {
  const { waves, wave: current, state, gate, definition, approval } = rollout
  const opensAt = gate?.opensAt ?? null
  const isCurrent = index + 1 === current
  const { where, soakSeconds } = definition.next ?? {}
  const isWatched = isCurrent && state === 'ROLLING_OUT' && (where !== undefined || soakSeconds !== undefined)
  useQuery({ ...queries.run(runId), enabled: isWatched, refetchInterval: pollMs })
  const now = useSeconds(isCurrent && opensAt !== null)
  const passedAt = waves[index]?.passedAt ?? null
  if (isCurrent && state === 'AWAITING_APPROVAL' && passedAt !== null)
    return <GateRow of={[approvalInWords(approval)]} isWaitedFor />
  if (isCurrent && state === 'PAUSED' && passedAt !== null)
    return <GateRow of={['paused after the wave', 'opens when the run is resumed']} isWaitedFor />
  if (passedAt !== null)
    return (
      <GateRow
        isOpen
        of={[
          <>
            opened <RelativeTime at={passedAt} />
          </>,
        ]}
      />
    )
  if (!isCurrent || gate === null) return <GateRow of={needsOfGate(definition.next)} />
  const left = opensAt === null ? undefined : parseTime(opensAt) - now
  return (
    <GateRow
      of={waitsOfGate(definition.next, gate, left)}
      share={gate.needed === 0 ? 1 : gate.succeeded / gate.needed}
      isWaitedFor
    />
  )
}

function approvalInWords(approval: { required: number; given: number } | null): string {
  const { required = 1, given = 0 } = approval ?? {}
  return `awaits approval of somebody else, ${given} of ${required} given`
}
