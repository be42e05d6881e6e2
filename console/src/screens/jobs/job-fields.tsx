// The fields of a new or an existing job.

import { useSchemaProblems } from '../../parameters/use-schema-problems.ts'
import { CheckList } from '../../parts/check-list.tsx'
import { errorAt } from '../../parts/error-at.ts'
import { Field, TextField } from '../../parts/field.tsx'
import { JsonField } from '../../parts/json-field.tsx'
import { PriorityField } from '../../parts/priority-field.tsx'
import { WindowField } from '../../parts/window-field.tsx'
import { ApprovalFields } from '../../rollout/approval-fields.tsx'
import { RolloutEditor } from '../../rollout/rollout-editor.tsx'
import {
  backoffProblem,
  durationProblem,
  type JobDraft,
  maxDocumentBytes,
  maxParametersBytes,
  maxProblem,
} from './job-draft.ts'

type Props = {
  draft: JobDraft
  onChange: (draft: JobDraft) => void
  isReadOnly?: boolean
  /** False: it is shown as the server has it. */
  isEdited?: boolean
  /** The error from the server. */
  error?: unknown
}

const parametersExample =
  '{ "type": "object", "properties": { "version": { "type": "string" } }, "required": ["version"] }'

const retriedStates = [
  { value: 'FAILED', label: 'failed' },
  { value: 'TIMED_OUT', label: 'timed out' },
] as const

export function JobFields({ draft, onChange, isReadOnly = false, isEdited = true, error }: Props) {
  const set = (change: Partial<JobDraft>) => onChange({ ...draft, ...change })
  const problems = useSchemaProblems(draft.parameters, draft.document, isEdited)
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
        hint="Sent to devices. The agent runs the handler it names, with these arguments. ${params.NAME}, ${device.deviceId} and ${device.attributes.NAME:-none} are replaced for each run and device."
        value={draft.document}
        onInput={(document) => set({ document })}
        maxBytes={maxDocumentBytes}
        isReadOnly={isReadOnly}
        error={problems.document ?? errorAt(error, 'document')}
      />
      <JsonField
        label="Parameters"
        hint="JSON Schema of the parameters of a run. A parameter with writeOnly is a secret. Empty: no parameters."
        placeholder={parametersExample}
        value={draft.parameters}
        onInput={(parameters) => set({ parameters })}
        maxBytes={maxParametersBytes}
        isReadOnly={isReadOnly}
        isOptional
        error={problems.parameters ?? errorAt(error, 'parameters')}
      />
      <div class="side-by-side">
        <TextField
          label="Expires after"
          value={draft.expireAfter}
          onInput={(expireAfter) => set({ expireAfter })}
          placeholder="Never"
          hint="Expires if the device has not started it by then."
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
          hint="In total, including retries."
          error={durationProblem(draft.deadline)}
        />
      </div>
      <div class="retry">
        <CheckList
          label="Retries"
          options={[{ value: 'yes', label: 'Retry automatically', about: 'unsuccessful executions' }]}
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
      <WindowField
        value={draft.window}
        onChange={(window) => set({ window })}
        none="None (at any time)"
        hint="Devices are offered the job only while the window is open, unless a run names another window."
        error={errorAt(error, 'window')}
      />
      <PriorityField
        value={draft.priority}
        onChange={(priority) => set({ priority })}
        error={errorAt(error, 'priority')}
      />
      <RolloutEditor
        label="Default rollout"
        none="to all devices immediately, unless a run has its own rollout"
        edited={draft.rollout}
        onChange={(rollout) => set({ rollout })}
        isReadOnly={isReadOnly}
        error={error}
      />
      <ApprovalFields
        label="Runs need approval"
        about="by others, before any device gets it"
        value={draft.approval}
        onChange={(approval) => set({ approval })}
      />
    </fieldset>
  )
}

/** Whether the error is shown at one of these fields. */
export function isAtJobField(error: unknown): boolean {
  return ['rollout', 'document', 'parameters', 'window', 'priority'].some(
    (field) => errorAt(error, field) !== undefined,
  )
}
