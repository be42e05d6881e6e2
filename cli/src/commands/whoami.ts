// jobcast whoami: the service, the key and its scopes.

import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { selfFields } from '../output/key-fields.ts'
import { fieldsText } from '../output/print-table.ts'

export function whoamiCommand(): Command {
  return ownerCommand('whoami').action(
    withClient(async ({ client, access, out }) => {
      const key = await client.keys.self()
      const { url, urlFrom, keyFrom } = access
      out.show({ url, urlFrom, keyFrom, ...key }, () =>
        fieldsText({ service: `${url} (${urlFrom})`, ...selfFields(key), 'key from': keyFrom }, out.paint),
      )
    }),
  )
}
