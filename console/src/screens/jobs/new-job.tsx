import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { isThere } from '../../api/is-there.ts'
import { useAction } from '../../api/use-action.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { TextField } from '../../parts/field.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { navigate } from '../../router.ts'
import { contentOf, newDraft, problemOf } from './job-draft.ts'
import { isAtJobField, JobFields } from './job-fields.tsx'

export default function NewJob() {
  const [jobName, setJobName] = useState('')
  const [draft, setDraft] = useState(() => newDraft())
  const name = jobName.trim()
  const isWrong = ['execute', '.', '..'].includes(name)
  const create = useAction(async () => {
    if (await isThere(() => jobcast.jobs.get(name))) throw new Error(`A job named ${name} already exists.`)
    await jobcast.jobs.put(name, contentOf(draft))
    navigate(`/jobs/${encodeURIComponent(name)}`)
  })
  return (
    <>
      <PageHeader title="New job" />
      <form
        class="panel stack new-job"
        aria-label="New job"
        onSubmit={(event) => {
          event.preventDefault()
          void create.run()
        }}
      >
        <TextField
          label="Name"
          mono
          required
          autoFocus
          value={jobName}
          onInput={setJobName}
          error={isWrong ? 'This name is reserved.' : undefined}
          hint="Used to trigger it. It cannot be changed later."
        />
        <JobFields draft={draft} onChange={setDraft} error={create.error} />
        {!isAtJobField(create.error) && <ErrorNote error={create.error} />}
        <footer class="form-end">
          <a class="button" href="/jobs">
            Cancel
          </a>
          <button
            type="submit"
            class="primary"
            disabled={name === '' || isWrong || problemOf(draft) !== undefined || create.isRunning}
          >
            Create job
          </button>
        </footer>
      </form>
    </>
  )
}
