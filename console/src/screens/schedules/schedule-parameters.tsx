// Values of the job's parameters for all runs of a schedule.

import type { ParameterSchema } from '@jobcast/contract/parameters'
import { useMemo } from 'preact/hooks'
import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { hasParameters } from '../../parameters/parameters-draft.ts'
import ParametersForm from '../../parameters/parameters-form.tsx'
import type { ScheduleDraft } from './schedule-draft.ts'

type Props = { draft: ScheduleDraft; set: (change: Partial<ScheduleDraft>) => void; error: unknown }

export default function ScheduleParameters({ draft, set, error }: Props) {
  const { jobName, version, parameters } = draft
  const { data: job } = useQuery(queries.job(jobName))
  const isOther = version !== null && job !== undefined && job.version !== version
  const old = useQuery({ ...queries.jobVersion(jobName, version ?? 0), enabled: isOther }).data
  const chosen = isOther ? old : job
  const { schema, secrets } = useMemo(() => withoutSecrets(chosen?.parameters), [chosen])
  if (!chosen || !hasParameters(chosen.parameters)) return null
  return (
    <>
      {hasParameters(schema) && (
        <ParametersForm
          key={`${jobName} ${chosen.version}`}
          schema={schema}
          document={chosen.document}
          draft={parameters}
          onChange={(next) => set({ parameters: next })}
          error={error}
        />
      )}
      {secrets.length > 0 && (
        <p class="quiet">
          A schedule cannot store the secret {secrets.length === 1 ? 'parameter' : 'parameters'}{' '}
          {secrets.join(', ')}. Let the document use a <a href="/secrets">named secret</a> instead.
        </p>
      )}
    </>
  )
}

function withoutSecrets(parameters: unknown): { schema: ParameterSchema; secrets: string[] } {
  const schema = (parameters ?? {}) as ParameterSchema
  const all = Object.entries(schema.properties ?? {})
  const isSecret = ([, property]: (typeof all)[number]) => property.writeOnly === true
  return {
    schema: { ...schema, properties: Object.fromEntries(all.filter((each) => !isSecret(each))) },
    secrets: all.filter(isSecret).map(([name]) => name),
  }
}
