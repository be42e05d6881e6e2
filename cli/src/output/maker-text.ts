// Names the principal that created or changed something.

import { whoInWords } from '@jobcast/contract/words'

type Made = { createdBy: string | null; createdByName: string | null; createdBySession: string | null }

/** For a column of a list. */
export function makerText({ createdBy, createdByName, createdBySession }: Made): string | null {
  return withMore(whoInWords(createdBy, createdByName), [sessionText(createdBySession)])
}

/** With the id of the principal, for the view of a single resource. */
export function makerWithId({ createdBy, createdByName, createdBySession }: Made): string | null {
  const session = sessionText(createdBySession)
  return whoWithId(createdBy, createdByName, ...(session === null ? [] : [session]))
}

/** For a principal whose session is not recorded. */
export function whoWithId(who: string | null, name: string | null, ...more: string[]): string | null {
  return withMore(whoInWords(who, name), [name === null ? null : who, ...more])
}

function sessionText(session: string | null): string | null {
  return session === null ? null : `session ${session}`
}

function withMore(who: string | null, more: (string | null)[]): string | null {
  const given = more.filter((each) => each !== null)
  return who === null || given.length === 0 ? who : `${who} (${given.join(', ')})`
}
