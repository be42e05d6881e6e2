// Buttons to approve or deny a run, with the reason if the key may not.

import type { Run } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { queryCache } from '../api/query-cache.ts'
import { refreshKeys } from '../api/refresh-keys.ts'
import { formatCount } from '../parts/exec-state.ts'
import { TextField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { whyNotApprove } from './why-not-approve.ts'

const answers = {
  approve: {
    label: 'Approve',
    say: (devices: string) =>
      `With all required approvals the run starts, or continues, on up to ${devices}.`,
  },
  deny: {
    label: 'Deny',
    say: (devices: string) =>
      `Executions that have not been released are canceled, on up to ${devices}. This cannot be undone.`,
  },
} as const
type Answer = keyof typeof answers

export default function ApprovalButtons({ run }: { run: Run }) {
  const [open, setOpen] = useState<Answer>()
  const isRefused = whyNotApprove(run) !== undefined
  return (
    <>
      <button type="button" class="primary" disabled={isRefused} onClick={() => setOpen('approve')}>
        Approve
      </button>
      <button type="button" class="danger" disabled={isRefused} onClick={() => setOpen('deny')}>
        Deny
      </button>
      {open && <ApprovalDialog run={run} answer={open} onClose={() => setOpen(undefined)} />}
    </>
  )
}

function ApprovalDialog({ run, answer, onClose }: { run: Run; answer: Answer; onClose: () => void }) {
  const { runId, jobName, total, rollout } = run
  const [comment, setComment] = useState('')
  const { label, say } = answers[answer]
  const held = total - (rollout?.released ?? 0)
  const send = async () => {
    const digest = rollout?.approval?.digest
    const request = {
      ...(comment.trim() !== '' && { comment: comment.trim() }),
      // The digest of the run as shown, so that later changes are not approved.
      ...(digest !== undefined && { digest }),
    }
    queryCache.set(queries.run(runId).queryKey, await jobcast.runs[answer](runId, request))
    void refreshKeys(['approvals'], ['runs'])
  }
  return (
    <FormDialog
      title={`${label} run ${runId} of ${jobName}`}
      submit={label}
      canSubmit={comment.length <= 500}
      work={send}
      onClose={onClose}
    >
      <p>{say(`${formatCount(held)} ${held === 1 ? 'device' : 'devices'}`)}</p>
      <TextField
        label="Comment"
        value={comment}
        onInput={setComment}
        hint="Optional. Recorded in the event log."
        error={comment.length > 500 ? 'At most 500 characters.' : undefined}
      />
    </FormDialog>
  )
}
