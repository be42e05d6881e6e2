import { queries } from '../../api/queries.ts'
import { useQuery } from '../../api/use-query.ts'
import { givenParameters } from '../../parameters/parameters-draft.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { PriorityField } from '../../parts/priority-field.tsx'
import { timeZone as ownZone } from '../../parts/time.ts'
import { WindowField } from '../../parts/window-field.tsx'
import { ApprovalFields } from '../../rollout/approval-fields.tsx'
import { RolloutEditor } from '../../rollout/rollout-editor.tsx'
import {
  type PartProps,
  refusedScheduleField,
  type ScheduleDraft,
  type ScheduleField,
  scheduleProblems,
} from './schedule-draft.ts'
import { TargetFields } from './target-fields.tsx'
import { WhenFields } from './when-fields.tsx'

type Props = {
  draft: ScheduleDraft
  onChange: (draft: ScheduleDraft) => void
  error: unknown
  /** The user has tried to submit; before that, empty fields are not marked as errors. */
  isTried: boolean
}

type ParametersProps = {
  draft: ScheduleDraft
  set: (change: Partial<ScheduleDraft>) => void
  error: unknown
}

/** It brings the rules of JSON Schema along. */
const ScheduleParameters = lazyPart<ParametersProps>(() => import('./schedule-parameters.tsx'))

const overlaps = [
  { value: 'SKIP', label: 'Skip devices that have not finished' },
  { value: 'REPLACE', label: 'Replace pending executions' },
  { value: 'QUEUE', label: 'Queue another execution' },
]

export function ScheduleFields({ draft, onChange, error, isTried }: Props) {
  const set = (change: Partial<ScheduleDraft>) => onChange({ ...draft, ...change })
  const problems = scheduleProblems(draft)
  const refused = refusedScheduleField(error)
  const errorOf = (field: ScheduleField): string | undefined => {
    const isEmpty = draft[field] === '' || (Array.isArray(draft[field]) && draft[field].length === 0)
    if (problems[field] && (isTried || !(isEmpty || field === 'parameters'))) return problems[field]
    return refused?.field === field ? refused.text : undefined
  }
  const part = { draft, set, errorOf }
  return (
    <>
      <JobField {...part} />
      {draft.jobName !== '' && <ScheduleParameters key={draft.jobName} {...{ draft, set, error }} />}
      {errorOf('parameters') && <p class="field-error">{errorOf('parameters')}</p>}
      <TargetFields {...part} />
      <WhenFields {...part} />
      <WindowField
        value={draft.window}
        onChange={(window) => set({ window })}
        none="Default of the job"
        hint="Devices are offered its runs only while the window is open."
        error={errorOf('window')}
      />
      <PriorityField
        value={draft.priority}
        onChange={(priority) => set({ priority })}
        none="Default of the job"
        error={errorOf('priority')}
      />
      <CheckList
        label="Replace"
        options={[
          { value: 'yes', label: 'Cancel pending executions', about: 'of the same job on their devices' },
        ]}
        chosen={draft.replaces ? ['yes'] : []}
        onChange={(chosen) => set({ replaces: chosen.length > 0 })}
      />
      <SelectField
        label="If a device has not finished"
        value={draft.overlap}
        options={overlaps}
        onChange={(value) => set({ overlap: value as ScheduleDraft['overlap'] })}
        hint="Its previous execution of this schedule is still pending or running."
      />
      <div class="side-by-side">
        <TextField
          label="Catch up"
          value={draft.catchUp}
          onInput={(catchUp) => set({ catchUp })}
          hint="How late a missed occurrence may still run after downtime."
          error={errorOf('catchUp')}
        />
        <TextField
          label="Jitter"
          value={draft.jitter}
          onInput={(jitter) => set({ jitter })}
          placeholder="None"
          hint="A random delay of up to this long for each run."
          error={errorOf('jitter')}
        />
        <TextField
          label="Pause after failed runs"
          value={draft.pauseAfter}
          onInput={(pauseAfter) => set({ pauseAfter })}
          placeholder="Never"
          hint="This many in a row."
          error={errorOf('pauseAfter')}
        />
      </div>
      <TextField
        label={`Until, in ${ownZone} time`}
        type="datetime-local"
        value={draft.until}
        onInput={(until) => set({ until })}
        hint="Optional. No runs are created after that."
        error={errorOf('until')}
      />
      <TextField
        label="Description"
        value={draft.description}
        onInput={(description) => set({ description })}
      />
      <RolloutEditor
        label="Rollout"
        none="default of the job"
        edited={draft.rollout}
        onChange={(rollout) => set({ rollout })}
        error={error}
      />
      <ApprovalFields
        label="Each run needs approval"
        about="by others, before it starts"
        value={draft.approval}
        onChange={(approval) => set({ approval })}
      />
    </>
  )
}

function JobField({ draft, set, errorOf }: PartProps) {
  const jobs = useQuery({ ...queries.allJobs(), staleTime: 0 }).data ?? []
  const names = jobs.map(({ jobName }) => jobName)
  const known = draft.jobName === '' || names.includes(draft.jobName) ? names : [draft.jobName, ...names]
  return (
    <SelectField
      label="Job"
      value={draft.jobName}
      options={[{ value: '', label: 'Choose a job' }, ...known.map((name) => ({ value: name, label: name }))]}
      onChange={(jobName) => set({ jobName, version: null, parameters: givenParameters({}) })}
      error={errorOf('jobName')}
    />
  )
}
