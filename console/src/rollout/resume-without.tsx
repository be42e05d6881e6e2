// Resumes a paused run without some of its devices.

import type { Run } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { queryCache } from '../api/query-cache.ts'
import { errorAt } from '../parts/error-at.ts'
import { Field } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'

const mostDevices = 1000

export default function ResumeWithout({ run, onClose }: { run: Run; onClose: () => void }) {
  const { runId } = run
  const [text, setText] = useState('')
  const except = [...new Set(text.split('\n').map((line) => line.trim()))].filter(Boolean)
  const tooMany = except.length > mostDevices ? 'Up to 1,000 devices at once.' : undefined
  const resume = async () => {
    queryCache.set(queries.run(runId).queryKey, await jobcast.runs.resume(runId, { except }))
  }
  return (
    <FormDialog
      title={`Resume run ${runId} without devices`}
      submit="Resume"
      canSubmit={except.length > 0 && tooMany === undefined}
      work={resume}
      onClose={onClose}
      isAtField={(error) => errorAt(error, 'except') !== undefined}
    >
      {(error) => (
        <Field
          label="Devices"
          hint="One id per line. Executions of these devices that have not started are canceled, and no gate counts them."
          error={tooMany ?? errorAt(error, 'except')}
        >
          {(control) => (
            <textarea
              {...control}
              class="mono"
              rows={6}
              value={text}
              spellcheck={false}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </FormDialog>
  )
}
