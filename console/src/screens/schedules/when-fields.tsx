// When: by a pattern in a zone, once, or whenever a device starts to match.

import { SelectField, TextField } from '../../parts/field.tsx'
import { TagsField } from '../../parts/tags-field.tsx'
import { timeZone as ownZone } from '../../parts/time.ts'
import { ZoneField } from '../../parts/zone-field.tsx'
import type { PartProps, WhenKind } from './schedule-draft.ts'

const kinds: { value: WhenKind; label: string }[] = [
  { value: 'cron', label: 'Repeatedly, by a cron pattern' },
  { value: 'at', label: 'Once' },
  { value: 'match', label: 'Once on each device as soon as it matches' },
]

export function WhenFields({ draft, set, errorOf }: PartProps) {
  return (
    <>
      <SelectField
        label="When"
        value={draft.whenKind}
        options={kinds}
        onChange={(kind) => set({ whenKind: kind as WhenKind })}
        {...(draft.whenKind === 'match' && { hint: 'Each device gets the job once for this schedule.' })}
      />
      {draft.whenKind === 'cron' && (
        <div class="side-by-side">
          <TextField
            label="Pattern"
            mono
            value={draft.cron}
            onInput={(cron) => set({ cron })}
            hint="Minute, hour, day of month, month, day of week. 0 3 * * 1-5: at 03:00 from Monday to Friday. Or @hourly, @daily, @weekly, @monthly."
            error={errorOf('cron')}
          />
          <ZoneField
            label="Time zone"
            value={draft.timeZone}
            onInput={(timeZone) => set({ timeZone })}
            error={errorOf('timeZone')}
          />
        </div>
      )}
      {draft.whenKind === 'cron' && (
        <>
          <TagsField
            label="Not on"
            values={draft.except}
            onChange={(except) => set({ except })}
            placeholder="2026-12-24/2027-01-02"
            hint="Dates, or ranges such as 2026-12-24/2027-01-02. Press Enter after each."
          />
          {errorOf('except') && <p class="field-error">{errorOf('except')}</p>}
        </>
      )}
      {draft.whenKind === 'at' && (
        <TextField
          label={`At, in ${ownZone} time`}
          type="datetime-local"
          value={draft.at}
          onInput={(at) => set({ at })}
          error={errorOf('at')}
        />
      )}
    </>
  )
}
