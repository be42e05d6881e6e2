// Groups in a fleet file.

import { GroupContent, NewJobName } from '@jobcast/contract'
import { parseSelector, SelectorError, termsOf } from '@jobcast/contract/selector'
import { type Kind, largePages } from './kind.ts'

export const groups: Kind = {
  field: 'groups',
  noun: 'group',
  nameField: 'groupName',
  nameSchema: NewJobName,
  contentSchema: GroupContent,
  refusal(_name, { where }) {
    try {
      parseSelector(String(where))
      return undefined
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error
      return `where is invalid: at position ${error.position}: ${error.message}`
    }
  },
  filled: (_name, { where, description = null }) => ({ where, description }),
  needs: ({ where }) =>
    termsOf(parseSelector(String(where))).flatMap((term) => (term.kind === 'group' ? [term.groupName] : [])),
  list: (client) => client.groups.list(largePages),
  get: (client, name) => client.groups.get(name),
  async put(client, name, content) {
    await client.groups.put(name, content as GroupContent)
    return undefined
  },
  remove: (client, name) => client.groups.delete(name),
}
