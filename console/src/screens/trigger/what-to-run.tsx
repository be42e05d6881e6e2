// Selects the job, its version, and the values of its parameters.

import type { Job, JobVersion } from '@jobcast/client'
import type { ParameterSchema } from '@jobcast/contract/parameters'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { hasParameters, type ParametersDraft } from '../../parameters/parameters-draft.ts'
import { CodeBlock } from '../../parts/code-block.tsx'
import { SelectField } from '../../parts/field.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { search, setSearch } from '../../router.ts'

type FormProps = {
  schema: ParameterSchema
  document: unknown
  draft: ParametersDraft
  onChange: (draft: ParametersDraft) => void
  error: unknown
}

/** Loaded on demand, because it includes the JSON Schema validation. */
const ParametersForm = lazyPart<FormProps>(() => import('../../parameters/parameters-form.tsx'))

/** `?version=3`; undefined: the current one. */
export function versionWanted(): number | undefined {
  const version = Number(search.value.get('version') ?? '')
  return Number.isInteger(version) && version > 0 ? version : undefined
}

/** The current version of the job, or the requested one. */
export function useChosenVersion(job: Job | undefined): Job | JobVersion | undefined {
  const wanted = versionWanted()
  const isOther = job !== undefined && wanted !== undefined && wanted !== job.version
  const { data } = useQuery({ ...queries.jobVersion(job?.jobName ?? '', wanted ?? 0), enabled: isOther })
  return isOther ? data : job
}

type Props = {
  job: Job
  chosen: Job | JobVersion | undefined
  parameters: ParametersDraft
  onParameters: (draft: ParametersDraft) => void
  error: unknown
}

export function WhatToRun({ job, chosen, parameters, onParameters, error }: Props) {
  return (
    <div class="job-about">
      {chosen?.description && <p>{chosen.description}</p>}
      {job.version > 1 && <VersionField job={job} />}
      {chosen && hasParameters(chosen.parameters) && (
        <ParametersForm
          key={`${chosen.jobName} ${chosen.version}`}
          schema={chosen.parameters as ParameterSchema}
          document={chosen.document}
          draft={parameters}
          onChange={onParameters}
          error={error}
        />
      )}
      {chosen && (
        <details>
          <summary>Document sent to devices</summary>
          <CodeBlock text={JSON.stringify(chosen.document, null, 2)} label="Document sent to devices" />
        </details>
      )}
    </div>
  )
}

function VersionField({ job: { jobName, version: current } }: { job: Job }) {
  const { data } = useQuery(queries.jobVersions(jobName))
  const older = data?.items.filter(({ version }) => version !== current) ?? []
  const wanted = versionWanted()
  const isListed =
    wanted === undefined || wanted === current || older.some(({ version }) => version === wanted)
  return (
    <SelectField
      label="Version"
      value={wanted === undefined || wanted === current ? '' : String(wanted)}
      options={[
        { value: '', label: `${current}, the current one` },
        ...(isListed ? [] : [{ value: String(wanted), label: String(wanted) }]),
        ...older.map(({ version }) => ({ value: String(version), label: String(version) })),
      ]}
      onChange={(version) => setSearch({ version })}
    />
  )
}
