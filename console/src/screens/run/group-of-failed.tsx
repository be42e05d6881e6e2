// Creates a group of the devices that failed in a run, or of all devices with the values they have in common.

import type { Run } from '@jobcast/client'
import { maxSelectorBytes, termText } from '@jobcast/contract/selector'
import { jobcast } from '../../api/client.ts'
import { useQuery } from '../../api/use-query.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { failedStates, failuresOf } from '../../parts/exec-state.ts'
import { GroupForm } from '../groups/group-form.tsx'

export type GroupOf = { where: string; run?: never } | { run: Run; where?: never }

export default function GroupOfFailed({ run, where, onClose }: GroupOf & { onClose: () => void }) {
  const failed = useQuery({
    queryKey: ['failures', run?.runId, 'devices', run && failuresOf(run.counts)],
    queryFn: ({ signal }) => whereOfFailed(run?.runId ?? 0, signal),
    enabled: run !== undefined,
  })
  const found = where ?? failed.data
  if (found !== undefined) return <GroupForm where={found} onClose={onClose} />
  if (!failed.error) return null
  return (
    <Dialog title="New group" onClose={onClose}>
      <ErrorNote error={failed.error} />
    </Dialog>
  )
}

/** Lists device ids, so that the group always has the same devices. */
async function whereOfFailed(runId: number, signal: AbortSignal): Promise<string> {
  const ids: string[] = []
  let bytes = 'deviceId in ()'.length
  const query = { runId, execState: [...failedStates], limit: 200 }
  for await (const { deviceId } of jobcast.executions.list(query, { signal })) {
    const written = termText('deviceId', deviceId).slice('deviceId='.length)
    bytes += new TextEncoder().encode(`${written}, `).length
    if (bytes > maxSelectorBytes)
      throw new Error(
        'There are too many devices for a selector. Make a group by what they have in common, or by a tag.',
      )
    ids.push(written)
  }
  return `deviceId in (${ids.join(', ')})`
}
