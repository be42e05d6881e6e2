// The key that encrypts secrets at rest: jobcast secrets new-key and rotate. Loaded only for these two, because it loads the server.

import { newSecretsKey, readSecretsKeys, rotateSecrets } from '@jobcast/server'
import { withDatabase } from '../database/store-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { withIo } from '../io.ts'

export const printKey = withIo<unknown[]>(async ({ stdout }) => {
  stdout.write(`${newSecretsKey()}\n`)
  return exitCode.ok
})

export const rotate = withDatabase<unknown[]>(async ({ io, out, place }) => {
  const problems: string[] = []
  const keys = readSecretsKeys(io.env, problems)
  if (problems[0] !== undefined) throw new UsageError(problems[0])
  const { total, changed } = await rotateSecrets(place, keys)
  out.say(`Encrypted ${changed} of ${total} with the new key.`)
  out.show({ total, changed }, () => '')
  return exitCode.ok
})
