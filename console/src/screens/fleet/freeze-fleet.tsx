// Freezes the fleet: nothing is offered to its devices, and all users see the reason.

import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'

const reasonAtMost = 128

export default function FreezeDialog({ onClose }: { onClose: () => void }) {
  const [reason, setReason] = useState('')
  const [until, setUntil] = useState('')
  const problem = untilProblem(until)
  const freeze = async () => {
    const end = until === '' ? {} : { until: new Date(until).toISOString() }
    await jobcast.fleet.freeze({ reason: reason.trim(), ...end })
    await refreshKeys(['freeze'])
  }
  return (
    <FormDialog
      title="Freeze the fleet"
      submit="Freeze"
      canSubmit={reason.trim() !== '' && reason.trim().length <= reasonAtMost && problem === undefined}
      work={freeze}
      onClose={onClose}
    >
      <p>
        Devices are offered nothing new until the freeze ends. Running executions continue; jobs can be
        triggered, and their executions wait.
      </p>
      <TextField
        label="Reason"
        required
        value={reason}
        onInput={setReason}
        hint="Shown to everyone, on every page."
        error={reason.trim().length > reasonAtMost ? `At most ${reasonAtMost} characters.` : undefined}
      />
      <TextField
        label="Until"
        type="datetime-local"
        value={until}
        onInput={setUntil}
        hint="Optional. By default, until somebody ends it."
        error={problem}
      />
    </FormDialog>
  )
}

function untilProblem(until: string): string | undefined {
  return until !== '' && new Date(until).getTime() <= Date.now() ? 'Must be in the future.' : undefined
}
