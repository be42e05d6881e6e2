import { Maker } from './maker.tsx'
import { RelativeTime } from './relative-time.tsx'

type Changed = {
  createdAt: string
  createdBy: string | null
  createdByName: string | null
  updatedAt: string
  updatedBy: string | null
  updatedByName: string | null
}

/** When something was changed and created, and by whom. */
export function changeFacts(of: Changed) {
  return [
    { name: 'Updated', value: when(of.updatedAt, of.updatedBy, of.updatedByName) },
    { name: 'Created', value: when(of.createdAt, of.createdBy, of.createdByName) },
  ]
}

const when = (at: string, by: string | null, name: string | null) => (
  <>
    <RelativeTime at={at} />
    {by !== null && (
      <>
        {' '}
        by <Maker createdBy={by} createdByName={name} />
      </>
    )}
  </>
)
