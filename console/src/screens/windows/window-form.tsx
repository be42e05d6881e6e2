// The form for a new or an existing window.

import type { Window } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { isThere } from '../../api/is-there.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { CronPhrase } from '../../parts/cron-phrase.tsx'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TagsField } from '../../parts/tags-field.tsx'
import { ZoneField } from '../../parts/zone-field.tsx'
import { navigate } from '../../router.ts'
import {
  refusedWindowField,
  type WindowField,
  windowContent,
  windowDraft,
  windowProblems,
} from './window-draft.ts'
import { deviceZone } from './zone-in-words.ts'

export function WindowForm({ window, onClose }: { window?: Window; onClose: () => void }) {
  const [name, setName] = useState(window?.windowName ?? '')
  const [draft, setDraft] = useState(() => windowDraft(window))
  const windowName = name.trim()
  const problems = windowProblems(draft)
  const save = async () => {
    if (!window && (await isThere(() => jobcast.windows.get(windowName))))
      throw new Error(`A window named ${windowName} already exists.`)
    await jobcast.windows.put(windowName, windowContent(draft))
    await refreshKeys(['window', windowName], ['windows'])
    if (!window) navigate(`/windows/${encodeURIComponent(windowName)}`)
  }
  return (
    <FormDialog
      title={window ? `Edit ${windowName}` : 'New window'}
      submit={window ? 'Save' : 'Create window'}
      canSubmit={windowName !== '' && Object.keys(problems).length === 0}
      work={save}
      onClose={onClose}
      isAtField={(error) => refusedWindowField(error) !== undefined}
    >
      {(error) => {
        const refused = refusedWindowField(error)
        const errorOf = (field: WindowField) =>
          problems[field] ?? (refused?.field === field ? refused.text : undefined)
        const text = (field: Exclude<WindowField, 'except' | 'timeZone'>) => ({
          value: draft[field],
          onInput: (value: string) => setDraft({ ...draft, [field]: value }),
          error: errorOf(field),
        })
        return (
          <>
            {!window && (
              <TextField label="Name" required value={name} onInput={setName} placeholder="nights" />
            )}
            <TextField
              label="Opens at"
              mono
              {...text('cron')}
              hint="Minute, hour, day of month, month, day of week."
            />
            <CronPhrase cron={draft.cron} />
            <div class="side-by-side">
              <TextField label="Stays open for" {...text('duration')} hint="At most a day." />
              <TextField
                label="Nothing new for the last"
                {...text('cutoff')}
                placeholder="0 min"
                hint="So that executions can finish before the window closes."
              />
            </div>
            <ZoneField
              label="Time zone"
              value={draft.timeZone}
              onInput={(timeZone) => setDraft({ ...draft, timeZone })}
              others={[deviceZone]}
              hint="A time zone such as Europe/Berlin, or device for the time zone of each device."
              error={errorOf('timeZone')}
            />
            <TagsField
              label="Closed on"
              values={draft.except}
              onChange={(except) => setDraft({ ...draft, except })}
              placeholder="2026-12-24/2027-01-02"
              hint="Dates, or ranges such as 2026-12-24/2027-01-02. Press Enter after each."
            />
            {errorOf('except') && <p class="field-error">{errorOf('except')}</p>}
          </>
        )
      }}
    </FormDialog>
  )
}
