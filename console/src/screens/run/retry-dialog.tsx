// Retrying a run starts work on devices again, so the user selects the states to retry. Canceled executions are not preselected,
// because they were canceled on purpose.

import { type ExecState, isEnd, type Run } from '@jobcast/client'
import { useRef, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { newRequestKey } from '../../api/request-key.ts'
import { useQuery } from '../../api/use-query.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { formatCount, stateOrder, stateStyles } from '../../parts/exec-state.ts'
import { SelectField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { navigate } from '../../router.ts'

export default function RetryDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const { runId, jobName, version: ownVersion, counts } = run
  const [version, setVersion] = useState<'SAME' | 'NEWEST'>('SAME')
  const newest = useQuery({ ...queries.job(jobName), staleTime: 0 }).data?.version
  const states = stateOrder.filter((state) => isEnd(state) && state !== 'SUCCEEDED' && counts[state] > 0)
  const [chosen, setChosen] = useState<ExecState[]>(() => states.filter((state) => state !== 'CANCELED'))
  const request = useRef<{ of: string; idempotencyKey: string } | undefined>(undefined)
  const total = chosen.reduce((sum, state) => sum + counts[state], 0)
  const retry = async () => {
    // The same key is used again after a lost response, so that no second run is created.
    const of = `${chosen.join()} ${total} ${version}`
    if (request.current?.of !== of) request.current = { of, idempotencyKey: newRequestKey() }
    const { idempotencyKey } = request.current
    const devices = chosen.length === states.length ? {} : { deviceIds: await devicesIn(runId, chosen) }
    const created = await jobcast.runs.retry(runId, { ...devices, version }, { idempotencyKey })
    navigate(`/runs/${created.runId}`)
  }
  return (
    <FormDialog
      title="Retry"
      submit={`Retry ${jobName} on ${formatCount(total)} ${total === 1 ? 'device' : 'devices'}`}
      canSubmit={total > 0}
      work={retry}
      onClose={onClose}
    >
      <p>A new run is created for the devices whose execution of this run is</p>
      <CheckList
        label="State"
        options={states.map((state) => ({
          value: state,
          label: stateStyles[state].word,
          about: formatCount(counts[state]),
        }))}
        chosen={chosen}
        onChange={setChosen}
      />
      {newest !== undefined && newest !== ownVersion && (
        <SelectField
          label="Version"
          value={version}
          options={[
            { value: 'SAME', label: `${ownVersion}, as in this run` },
            { value: 'NEWEST', label: `${newest}, the current one` },
          ]}
          onChange={(value) => setVersion(value as 'SAME' | 'NEWEST')}
        />
      )}
    </FormDialog>
  )
}

/** The API retries all unsuccessful executions, or those of given devices. */
async function devicesIn(runId: number, states: readonly ExecState[]): Promise<string[]> {
  const lists = states.map((execState) =>
    Array.fromAsync(
      jobcast.executions.list({ runId, execState, limit: 200 }),
      ({ deviceId }: { deviceId: string }) => deviceId,
    ),
  )
  return (await Promise.all(lists)).flat()
}
