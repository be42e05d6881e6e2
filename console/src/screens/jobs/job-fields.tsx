// The fields of a job, the same for a new one and an existing one.

import { CheckList } from '../../parts/check-list.tsx'
import { Field, TextField } from '../../parts/field.tsx'
import { JsonField } from '../../parts/json-field.tsx'
import { rolloutErrorOf } from '../../rollout/rollout-error.ts'
import {
  backoffProblem,
  durationProblem,
  type JobDraft,
  maxDocumentBytes,
  maxProblem,
  maxRolloutBytes,
} from './job-draft.ts'

type Props = {
  draft: JobDraft
  onChange: (draft: JobDraft) => void
  isReadOnly?: boolean
  /** Why the server did not take it. */
  error?: unknown
}

const rolloutExample = '{ "waves": [{ "size": 5 }, { "size": "100%" }] }'

const retriedStates = [
  { value: 'FAILED', label: 'failed' },
  { value: 'TIMED_OUT', label: 'timed out' },
] as const

export function JobFields({ draft, onChange, isReadOnly = false, error }: Props) {
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
      <JsonField
        label="Default rollout"
        hint="How its runs are released, unless a run has its own. Empty: to all devices at once."
        placeholder={rolloutExample}
        value={draft.rollout}
        onInput={(rollout) => set({ rollout })}
        maxBytes={maxRolloutBytes}
        isReadOnly={isReadOnly}
        isOptional
        error={rolloutErrorOf(error)}
      />
      <CheckList
        label="Approval"
        options={[
          { value: 'yes', label: 'Runs need approval', about: 'with another key, before any device gets it' },
        ]}
        chosen={draft.approval ? ['yes'] : []}
        onChange={(chosen) => set({ approval: chosen.length > 0 })}
      />
    </fieldset>
  )
}
