// A command that calls the service: the flags all of them have, and the life of such a call.

import { Jobcast } from '@jobcast/client'
import { Command, Option } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { type Access, type AccessFlags, accessOf, type FoundAccess } from './access.ts'
import { type ExitCode, exitCode, exitCodeOf } from './exit-code.ts'
import { explainError } from './explain-error.ts'
import { Out } from './out.ts'
import { Reach } from './reach.ts'
import { UsageError } from './usage-error.ts'

export type OwnerFlags = AccessFlags & { json?: boolean }
/** Without a code it has ended well. */
type Ending = Promise<ExitCode | undefined> | Promise<void>
export type OwnerContext = { client: Jobcast; access: Access; out: Out; reach: Reach }

export function ownerCommand(name: string): Command {
  return plainCommand(name)
    .addOption(new Option('--url <address>', 'the service (default http://127.0.0.1:8080)').helpGroup(group))
    .addOption(
      new Option(
        '--api-key <key>',
        'others can see it in the process list: prefer JOBCAST_API_KEY',
      ).helpGroup(group),
    )
    .addOption(new Option('--profile <name>', 'address and key of this profile').helpGroup(group))
}

const group = 'Address and key (also JOBCAST_URL, JOBCAST_API_KEY, JOBCAST_PROFILE):'

/** The same for one that needs no key, or looks for it itself. */
export function plainCommand(name: string): Command {
  return new Command(name)
    .configureHelp({ helpWidth: 110 })
    .addOption(new Option('--json', 'JSON on standard output, and nothing else there'))
}

/** Gives the action a client. Its arguments are those of commander: arguments, then flags, then the command. */
export function withClient<Args extends unknown[]>(act: (context: OwnerContext, ...args: Args) => Ending) {
  return runAction((out, found, args: Args) => {
    const access = accessOf(args.at(-2) as AccessFlags)
    found(access)
    const headers = { 'user-agent': `jobcast-cli/${packageJson.version}` }
    const reach = new Reach()
    const { url, apiKey } = access
    const client = new Jobcast({ url, apiKey, headers, fetch: reach.fetch })
    return act({ client, access, out, reach }, ...args)
  })
}

/** The same without a client. */
export function withOut<Args extends unknown[]>(act: (context: { out: Out }, ...args: Args) => Ending) {
  return runAction((out, _, args: Args) => act({ out }, ...args))
}

/** Errors become a line on standard error, and everything becomes an exit code. */
function runAction<Args extends unknown[]>(
  act: (out: Out, found: (access: FoundAccess) => void, args: Args) => Ending,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const [flags, command] = args.slice(-2) as [OwnerFlags, Command]
    const out = new Out(flags.json ?? false)
    let access: FoundAccess | undefined
    let code: ExitCode = exitCode.ok
    try {
      const found = (it: FoundAccess) => {
        access = it
      }
      code = (await act(out, found, args)) ?? exitCode.ok
    } catch (error) {
      if (error instanceof UsageError) command.error(`error: ${error.message}`)
      out.say(explainError(error, access))
      code = exitCodeOf(error)
    }
    await out.flush()
    // Connections that are kept for a next call would hold the process for seconds.
    process.exit(code)
  }
}
