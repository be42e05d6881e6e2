// Rolls the devices of a run back to an earlier version of the job, after showing which devices are affected.

import type { Run } from '@jobcast/client'
import { useRef, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { newRequestKey } from '../../api/request-key.ts'
import { useQuery } from '../../api/use-query.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount, stateStyles } from '../../parts/exec-state.ts'
import { SelectField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { navigate } from '../../router.ts'

export default function RollbackDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const { runId, jobName, version, rollout } = run
  const [toVersion, setToVersion] = useState(String(version - 1))
  const versions = useQuery(queries.jobVersions(jobName))
  const request = useRef<{ of: string; idempotencyKey: string } | undefined>(undefined)
  const total = rollout?.released ?? run.total
  const size = `${formatCount(total)} ${total === 1 ? 'device' : 'devices'}`
  const rollBack = async () => {
    // The same key is used again after a lost response, so that no second run is created.
    if (request.current?.of !== toVersion)
      request.current = { of: toVersion, idempotencyKey: newRequestKey() }
    const { idempotencyKey } = request.current
    const created = await jobcast.runs.rollback(runId, { toVersion: Number(toVersion) }, { idempotencyKey })
    navigate(`/runs/${created.runId}`)
  }
  const others = versions.data?.items.filter((other) => other.version !== version) ?? []
  const options = others.map((other) => ({
    value: String(other.version),
    label: `Version ${other.version}${other.isCurrent ? ', the current one' : ''}`,
  }))
  return (
    <FormDialog
      title={`Roll back run ${runId} of ${jobName}`}
      submit={`Roll back ${size}`}
      canSubmit={total > 0}
      work={rollBack}
      onClose={onClose}
    >
      <p>
        Stops this run, and starts a run of an earlier version of the job on all devices that it was released
        to.
      </p>
      <SelectField
        label="To"
        value={toVersion}
        options={options.length > 0 ? options : [{ value: toVersion, label: `Version ${toVersion}` }]}
        onChange={setToVersion}
        hint={`This run used version ${version}. Parameters keep their values.`}
      />
      <p>
        <a
          href={`/jobs/${encodeURIComponent(jobName)}/versions?from=${version}&to=${toVersion}`}
          target="_blank"
          rel="noopener"
        >
          Differences between the two
        </a>
      </p>
      <Devices run={run} total={total} />
    </FormDialog>
  )
}

function Devices({ run: { runId }, total }: { run: Run; total: number }) {
  const { data, error } = useQuery(queries.rolledBack(runId))
  const shown = data?.items ?? []
  return (
    <details open={total <= 20}>
      <summary>Devices ({formatCount(total)})</summary>
      <ErrorNote error={error} />
      <ul class="rollback-devices">
        {shown.map(({ jobExecutionId, deviceId, execState }) => (
          <li key={jobExecutionId}>
            <bdi>{deviceId}</bdi> <span class="quiet">{stateStyles[execState].word}</span>
          </li>
        ))}
      </ul>
      {total > shown.length && data && <p class="quiet">and {formatCount(total - shown.length)} more</p>}
    </details>
  )
}
