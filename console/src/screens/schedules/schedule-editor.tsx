// The form for a new or an existing schedule.

import type { Schedule } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { isThere } from '../../api/is-there.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { TextField } from '../../parts/field.tsx'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { navigate } from '../../router.ts'
import {
  refusedScheduleField,
  type ScheduleDraft,
  scheduleContent,
  scheduleDraft,
  scheduleProblems,
} from './schedule-draft.ts'
import { ScheduleFields } from './schedule-fields.tsx'
import '../schedules.css'

const ScheduleDelivery = lazyPart<{ draft: ScheduleDraft }>(() => import('./schedule-delivery.tsx'))

const hrefOf = (name: string) => `/schedules/${encodeURIComponent(name)}`

export function NewSchedule() {
  const [name, setName] = useState('')
  const scheduleName = name.trim()
  const create = async (draft: ScheduleDraft) => {
    if (await isThere(() => jobcast.schedules.get(scheduleName)))
      throw new Error(`A schedule named ${scheduleName} already exists.`)
    await jobcast.schedules.put(scheduleName, scheduleContent(draft))
    void refreshKeys(['schedules'])
    navigate(hrefOf(scheduleName))
  }
  return (
    <>
      <PageHeader title="New schedule" />
      <ScheduleEditor
        submit="Create schedule"
        backTo="/schedules"
        work={create}
        isNamed={scheduleName !== ''}
      >
        <TextField
          label="Name"
          required
          autoFocus
          value={name}
          onInput={setName}
          placeholder="nightly"
          hint="It cannot be changed later."
        />
      </ScheduleEditor>
    </>
  )
}

export function EditSchedule({ schedule }: { schedule: Schedule }) {
  const { scheduleName } = schedule
  const save = async (draft: ScheduleDraft) => {
    await jobcast.schedules.put(scheduleName, scheduleContent(draft))
    await refreshKeys(['schedule', scheduleName], ['schedules'])
    navigate(hrefOf(scheduleName))
  }
  return (
    <>
      <PageHeader title={`Edit ${scheduleName}`} />
      <ScheduleEditor submit="Save" backTo={hrefOf(scheduleName)} work={save} schedule={schedule} isNamed />
    </>
  )
}

type EditorProps = {
  schedule?: Schedule
  submit: string
  backTo: string
  isNamed: boolean
  work: (draft: ScheduleDraft) => Promise<void>
  children?: preact.ComponentChildren
}

function ScheduleEditor({ schedule, submit, backTo, isNamed, work, children }: EditorProps) {
  const [draft, setDraft] = useState(() => scheduleDraft(schedule))
  const [isTried, setTried] = useState(false)
  const action = useAction(() => work(draft))
  const isRight = isNamed && Object.keys(scheduleProblems(draft)).length === 0
  return (
    <form
      class="panel stack schedule-editor"
      aria-label={submit}
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (isRight && !action.isRunning) void action.run()
      }}
    >
      {children}
      <ScheduleFields draft={draft} onChange={setDraft} error={action.error} isTried={isTried} />
      {refusedScheduleField(action.error) === undefined && <ErrorNote error={action.error} />}
      <ScheduleDelivery draft={draft} />
      <footer class="form-end">
        {isTried && !isRight && <p class="field-error">Some fields are missing or invalid.</p>}
        <a class="button" href={backTo}>
          Cancel
        </a>
        <button type="submit" class="primary" disabled={action.isRunning}>
          {submit}
        </button>
      </footer>
    </form>
  )
}
