// Groups in a fleet file.

import { groups } from '@jobcast/contract'
import { parseSelector, SelectorError, termsOf } from '@jobcast/contract/selector'
import { kindOf } from './kind.ts'

export const groupKind = kindOf(groups, {
  refusal(_name, { where }) {
    try {
      parseSelector(String(where))
      return undefined
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error
      return `where is invalid: at position ${error.position}: ${error.message}`
    }
  },
  filled: (_name, { where, description = null, window = null }) => ({ where, description, window }),
  needs: ({ where }) =>
    termsOf(parseSelector(String(where))).flatMap((term) => (term.kind === 'group' ? [term.groupName] : [])),
})
