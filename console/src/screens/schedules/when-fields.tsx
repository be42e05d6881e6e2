// The times of a schedule: by a pattern in a zone, once, or when a device starts to match.

import { CheckList } from '../../parts/check-list.tsx'
import { CronPhrase } from '../../parts/cron-phrase.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { TagsField } from '../../parts/tags-field.tsx'
import { timeZone as ownZone } from '../../parts/time.ts'
import { ZoneField } from '../../parts/zone-field.tsx'
import { type PartProps, type ScheduleDraft, usesBackOff, type WhenKind } from './schedule-draft.ts'

const PreviewTimes = lazyPart<{ draft: ScheduleDraft }>(() => import('./preview-times.tsx'))

const kinds: { value: WhenKind; label: string }[] = [
  { value: 'cron', label: 'Repeatedly, by a cron pattern' },
  { value: 'at', label: 'Once' },
  { value: 'match', label: 'On each device as soon as it matches' },
]

export function WhenFields({ draft, set, errorOf }: PartProps) {
  return (
    <>
      <SelectField
        label="When"
        value={draft.whenKind}
        options={kinds}
        onChange={(kind) => set({ whenKind: kind as WhenKind })}
      />
      {draft.whenKind === 'cron' && (
        <div class="side-by-side">
          <TextField
            label="Pattern"
            mono
            value={draft.cron}
            onInput={(cron) => set({ cron })}
            hint="Minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly, @monthly."
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
          <CronPhrase cron={draft.cron} suffix={`, ${draft.timeZone.trim()} time`} />
          <PreviewTimes draft={draft} />
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
      {draft.whenKind === 'match' && <MatchFields {...{ draft, set, errorOf }} />}
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

const agains: { value: ScheduleDraft['again']; label: string }[] = [
  { value: '', label: 'Never: once on each device' },
  { value: 'ON_NEW_VERSION', label: 'On each new version of the job' },
  { value: 'WHILE_MATCHING', label: 'While the device still matches' },
]

function MatchFields({ draft, set, errorOf }: PartProps) {
  return (
    <>
      <SelectField
        label="Again"
        value={draft.again}
        options={agains}
        onChange={(again) => set({ again: again as ScheduleDraft['again'] })}
        error={errorOf('again')}
      />
      <CheckList
        label="When a device no longer matches"
        options={[
          { value: 'CANCEL', label: 'Cancel pending executions', about: 'running executions continue' },
        ]}
        chosen={draft.cancelsLeavers ? ['CANCEL'] : []}
        onChange={(chosen) => set({ cancelsLeavers: chosen.length > 0 })}
      />
      {usesBackOff(draft) && (
        <TextField
          label="Back-off"
          value={draft.backOff}
          onInput={(backOff) => set({ backOff })}
          hint="Delay after the end of an execution before the device gets the job again. Doubles each time, up to a day."
          error={errorOf('backOff')}
        />
      )}
    </>
  )
}
