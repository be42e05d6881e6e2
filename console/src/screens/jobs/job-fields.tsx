// The fields of a job, alike for a new one and for one that is changed.

import { CheckList } from '../../parts/check-list.tsx'
import { Field, TextField } from '../../parts/field.tsx'
import { JsonField } from '../../parts/json-field.tsx'
import { backoffProblem, clockProblem, type JobDraft, maxDocumentBytes, maxProblem } from './job-draft.ts'

type Props = { draft: JobDraft; onChange: (draft: JobDraft) => void; isReadOnly?: boolean }

const retriedStates = [
  { value: 'FAILED', label: 'failed' },
  { value: 'TIMED_OUT', label: 'timed out' },
] as const

export function JobFields({ draft, onChange, isReadOnly = false }: Props) {
  const set = (change: Partial<JobDraft>) => onChange({ ...draft, ...change })
  return (
    // A fieldset that is disabled takes all in it along.
    <fieldset class="stack" disabled={isReadOnly}>
      <legend class="hidden">Job</legend>
      <Field label="Description" hint="For people: what it does, and when not to.">
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
        hint="Devices get it as it is. The agent runs the handler that it names, with these arguments."
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
          hint="Of waiting: EXPIRED."
          error={clockProblem(draft.expireAfter)}
        />
        <TextField
          label="Times out after"
          value={draft.timeout}
          onInput={(timeout) => set({ timeout })}
          placeholder="Never"
          hint="Of work on a device: TIMED_OUT."
          error={clockProblem(draft.timeout)}
        />
        <TextField
          label="Deadline"
          value={draft.deadline}
          onInput={(deadline) => set({ deadline })}
          placeholder="None"
          hint="For all of it, attempts included."
          error={clockProblem(draft.deadline)}
        />
      </div>
      <div class="retry">
        <CheckList
          label="Retries"
          options={[{ value: 'yes', label: 'Try again by itself', about: 'what did not end well' }]}
          chosen={draft.isRetried ? ['yes'] : []}
          onChange={(chosen) => set({ isRetried: chosen.length > 0 })}
        />
        {draft.isRetried && (
          <div class="side-by-side">
            <TextField
              label="At most"
              type="number"
              value={draft.retryMax}
              onInput={(retryMax) => set({ retryMax })}
              hint="Times after the first attempt."
              error={maxProblem(draft.retryMax)}
            />
            <TextField
              label="First rest"
              value={draft.retryBackoff}
              onInput={(retryBackoff) => set({ retryBackoff })}
              hint="It doubles each time."
              error={backoffProblem(draft.retryBackoff)}
            />
            <CheckList
              label="If it"
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
