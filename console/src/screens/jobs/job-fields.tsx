// The fields of a job, the same for a new one and an existing one.

import { CheckList } from '../../parts/check-list.tsx'
import { Field, TextField } from '../../parts/field.tsx'
import { JsonField } from '../../parts/json-field.tsx'
import { backoffProblem, durationProblem, type JobDraft, maxDocumentBytes, maxProblem } from './job-draft.ts'

type Props = { draft: JobDraft; onChange: (draft: JobDraft) => void; isReadOnly?: boolean }

const retriedStates = [
  { value: 'FAILED', label: 'failed' },
  { value: 'TIMED_OUT', label: 'timed out' },
] as const

export function JobFields({ draft, onChange, isReadOnly = false }: Props) {
  const set = (change: Partial<JobDraft>) => onChange({ ...draft, ...change })
  return (
    // A disabled fieldset disables everything in it.
    <fieldset class="stack" disabled={isReadOnly}>
      <legend class="hidden">Job</legend>
      <Field label="Description" hint="What it does, and when not to use it.">
        {(control) => (
          <textarea
            {...control}
            rows={2}
            maxLength={2000}
            value={draft.description}
            onInput={(event) => set({ description: event.currentTarget.value })}
          />
        )}
      </Field>
      <JsonField
        label="Document"
        hint="Sent to devices as it is. The agent runs the handler it names, with these arguments."
        value={draft.document}
        onInput={(document) => set({ document })}
        maxBytes={maxDocumentBytes}
        isReadOnly={isReadOnly}
      />
      <div class="side-by-side">
        <TextField
          label="Expires after"
          value={draft.expireAfter}
          onInput={(expireAfter) => set({ expireAfter })}
          placeholder="Never"
          hint="Expires if no device starts it by then."
          error={durationProblem(draft.expireAfter)}
        />
        <TextField
          label="Times out after"
          value={draft.timeout}
          onInput={(timeout) => set({ timeout })}
          placeholder="Never"
          hint="Times out if the device takes longer."
          error={durationProblem(draft.timeout)}
        />
        <TextField
          label="Deadline"
          value={draft.deadline}
          onInput={(deadline) => set({ deadline })}
          placeholder="None"
          hint="For everything, retries included."
          error={durationProblem(draft.deadline)}
        />
      </div>
      <div class="retry">
        <CheckList
          label="Retries"
          options={[{ value: 'yes', label: 'Retry automatically', about: 'what did not succeed' }]}
          chosen={draft.isRetried ? ['yes'] : []}
          onChange={(chosen) => set({ isRetried: chosen.length > 0 })}
        />
        {draft.isRetried && (
          <div class="side-by-side">
            <TextField
              label="Maximum retries"
              type="number"
              value={draft.retryMax}
              onInput={(retryMax) => set({ retryMax })}
              hint="After the first attempt."
              error={maxProblem(draft.retryMax)}
            />
            <TextField
              label="First delay"
              value={draft.retryBackoff}
              onInput={(retryBackoff) => set({ retryBackoff })}
              hint="Doubles with each retry."
              error={backoffProblem(draft.retryBackoff)}
            />
            <CheckList
              label="Retry when"
              options={[...retriedStates]}
              chosen={draft.retryOn}
              onChange={(retryOn) => set({ retryOn: retryOn.sort() })}
            />
          </div>
        )}
      </div>
    </fieldset>
  )
}
