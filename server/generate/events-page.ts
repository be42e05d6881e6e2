// The table of types in docs/events.md, from the map of events.

import { readFileSync } from 'node:fs'
import { eventTypes, whenOf } from '@jobcast/contract'

export const eventsPageFile = new URL('../../docs/events.md', import.meta.url)

const heading = '| type | when |\n|---|---|\n'

/** The page as it is, with the rows of the table replaced. */
export function eventsPageText(): string {
  const page = readFileSync(eventsPageFile, 'utf8')
  const [before, after] = page.split(heading)
  if (before === undefined || after === undefined) throw new Error('docs/events.md lacks the table of types')
  const rows = eventTypes.map((type) => `| \`${type}\` | ${whenOf(type)} |\n`)
  return before + heading + rows.join('') + after.slice(after.indexOf('\n\n') + 1)
}
