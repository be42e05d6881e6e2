// One entry of the audit log: all of its fields, and its changes side by side.

import type { AuditEntry } from '@jobcast/client'
import { SideBySide } from '../../diff/side-by-side.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { formatTimeWithZone, parseTime } from '../../parts/time.ts'
import { Principal } from './principal.tsx'
import { Subject } from './subject.tsx'

export function EntryDialog({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const { auditId, at, principal, address, requestId, action, subject, before, after, note } = entry
  const none = <span class="quiet">none</span>
  return (
    <Dialog title={`Entry ${auditId}`} onClose={onClose}>
      <div class="audit-entry stack">
        <Facts
          facts={[
            { name: 'When', value: <time dateTime={at}>{formatTimeWithZone(parseTime(at))}</time> },
            { name: 'Who', value: <Principal entry={entry} /> },
            { name: 'Principal', value: <code>{principal}</code> },
            { name: 'What', value: <code>{action}</code> },
            { name: 'Subject', value: <Subject subject={subject} /> },
            { name: 'Address', value: address ?? none },
            { name: 'Request', value: requestId === null ? none : <code>{requestId}</code> },
            { name: 'Note', value: note === null ? none : <bdi>{note}</bdi> },
          ]}
        />
        {isNothing(before) && isNothing(after) ? (
          <p class="quiet">There are no changes to show.</p>
        ) : (
          <SideBySide
            label="Before and after"
            before={{ name: isNothing(before) ? 'Before: did not exist' : 'Before', text: textOf(before) }}
            after={{ name: isNothing(after) ? 'After: does not exist' : 'After', text: textOf(after) }}
          />
        )}
      </div>
    </Dialog>
  )
}

const isNothing = (state: unknown) => state === null || state === undefined
const textOf = (state: unknown) => (isNothing(state) ? '' : JSON.stringify(state, null, 2))
