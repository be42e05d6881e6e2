import { eventPatterns } from '@jobcast/client'
import { lists } from '../../api/queries.ts'
import { useList } from '../../api/use-list.ts'
import { Field, SelectField, TextField } from '../../parts/field.tsx'
import { TagsField } from '../../parts/tags-field.tsx'
import { formatWords, unknownTypes, type WebhookDraft, type WebhookFormat } from './webhook-draft.ts'

type Props = { draft: WebhookDraft; onChange: (draft: WebhookDraft) => void }

export function WebhookFields({ draft, onChange }: Props) {
  const jobs = useList(lists.jobs())
  const set = (change: Partial<WebhookDraft>) => onChange({ ...draft, ...change })
  const unknown = unknownTypes(draft.eventTypes)
  return (
    <>
      <TextField
        label="URL"
        type="url"
        mono
        required
        value={draft.url}
        onInput={(url) => set({ url })}
        placeholder="https://example.com/jobcast"
        hint="Events are sent by POST, signed."
      />
      <SelectField
        label="Format"
        value={draft.format}
        onChange={(format) => set({ format: format as WebhookFormat })}
        options={Object.entries(formatWords).map(([value, label]) => ({ value, label }))}
        hint="Slack and Teams get one sentence with a link; executions are reported with their run."
      />
      <TagsField
        label="Events"
        values={draft.eventTypes}
        onChange={(eventTypes) => set({ eventTypes })}
        suggestions={eventPatterns}
        placeholder="All events"
        hint="Event types; execution.* means all of them. All events if empty."
      />
      {unknown.length > 0 && (
        <p class="field-error" role="alert">
          Unknown event type: {unknown.join(', ')}
        </p>
      )}
      <div class="side-by-side">
        <Field label="Only for job" hint="All jobs by default.">
          {(control) => (
            <>
              <input
                {...control}
                type="text"
                list={`${control.id}-jobs`}
                value={draft.jobName}
                autoComplete="off"
                spellcheck={false}
                onInput={(event) => set({ jobName: event.currentTarget.value })}
              />
              <datalist id={`${control.id}-jobs`}>
                {jobs.rows.map(({ jobName }) => (
                  <option key={jobName} value={jobName} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <TextField
          label="Only for device"
          value={draft.deviceId}
          onInput={(deviceId) => set({ deviceId })}
          hint="All devices by default."
        />
      </div>
    </>
  )
}
