// jobcast whoami: which service, which key, what it may do.

import type { Command } from 'commander'
import { keyFields } from './key-fields.ts'
import { ownerCommand, withClient } from './owner-command.ts'
import { fieldsText } from './print-table.ts'

export function whoamiCommand(): Command {
  return ownerCommand('whoami').action(
    withClient(async ({ client, access, out }) => {
      const key = await client.keys.self()
      const { url, urlFrom, keyFrom } = access
      out.show({ url, urlFrom, keyFrom, ...key }, () =>
        fieldsText({ service: `${url} (${urlFrom})`, ...keyFields(key), 'key from': keyFrom }, out.paint),
      )
    }),
  )
}
