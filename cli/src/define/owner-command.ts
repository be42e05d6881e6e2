// Commands that call the service: their common flags, their client, and how their errors become exit codes.

import { Jobcast } from '@jobcast/client'
import { Command, Option } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { type ExitCode, exitCode, exitCodeOf } from '../errors/exit-code.ts'
import { explainError } from '../errors/explain-error.ts'
import { UsageError } from '../errors/usage-error.ts'
import { type Io, withIo } from '../io.ts'
import { Out } from '../output/out.ts'
import { type FormatFlags, type Formatter, formatterOf, outputOption } from '../output/output-format.ts'
import { type Access, type AccessFlags, accessOf, type FoundAccess } from '../service/access.ts'
import { freshKey, keepFresh } from '../service/fresh-access.ts'
import { Reach } from '../service/reach.ts'
import { Interrupted } from '../signals/interrupt.ts'

type OwnerFlags = AccessFlags & FormatFlags
/** Undefined means success. */
type Ending = Promise<ExitCode | undefined> | Promise<void>
type PlainContext = { io: Io; out: Out }
export type OwnerContext = PlainContext & {
  client: Jobcast
  access: Access
  /** For calls that do not use the client. */
  keyNow: () => Promise<string>
  reach: Reach
}

export function ownerCommand(name: string): Command {
  return plainCommand(name)
    .addOption(
      new Option('--url <address>', 'address of the service (default http://127.0.0.1:8080)').helpGroup(
        group,
      ),
    )
    .addOption(
      new Option(
        '--api-key <key>',
        'API key; visible in the process list, so prefer JOBCAST_API_KEY',
      ).helpGroup(group),
    )
    .addOption(new Option('--profile <name>', 'use the address and key of this profile').helpGroup(group))
}

const group = 'Address and key (also JOBCAST_URL, JOBCAST_API_KEY, JOBCAST_PROFILE; in CI JOBCAST_ID_TOKEN):'

/** A command that needs no key, or finds it itself. */
export function plainCommand(name: string): Command {
  return new Command(name)
    .configureHelp({ helpWidth: 110 })
    .addOption(new Option('--json', 'print JSON, and nothing else, on standard output'))
    .addOption(outputOption())
}

/** Passes a client to the action. Its arguments are those of commander: arguments, then flags, then the command. */
export function withClient<Args extends unknown[]>(act: (context: OwnerContext, ...args: Args) => Ending) {
  return runAction(async (context, found, args: Args) => {
    const { env } = context.io
    const source = accessOf(args.at(-2) as AccessFlags, env)
    found(source)
    const key = await freshKey(source, env)
    const access = { ...source, apiKey: key.apiKey ?? '' }
    const headers = { 'user-agent': `jobcast-cli/${packageJson.version}` }
    const keyNow = keepFresh(source, env, key)
    const reach = new Reach(key.expiresAt === undefined ? fetch : fetchWith(keyNow))
    const { url, apiKey } = access
    const client = new Jobcast({ url, apiKey, headers, fetch: reach.fetch })
    return (await act({ ...context, client, access, keyNow, reach }, ...args)) ?? undefined
  })
}

/** A wait may outlast the key that it began with, so each request uses the current one. */
function fetchWith(keyNow: () => Promise<string>): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('x-api-key', await keyNow())
    return fetch(input, { ...init, headers })
  }
}

/** The same without a client. */
export function withOut<Args extends unknown[]>(act: (context: PlainContext, ...args: Args) => Ending) {
  return runAction((context, _, args: Args) => act(context, ...args))
}

/** Errors become a line on standard error, and everything becomes an exit code. */
function runAction<Args extends unknown[]>(
  act: (context: PlainContext, found: (access: FoundAccess) => void, args: Args) => Ending,
): (...args: Args) => Promise<void> {
  return withIo(async (io, ...args: Args) => {
    const [flags, command] = args.slice(-2) as [OwnerFlags, Command]
    const out = new Out(io, await formatOf(flags, io, command))
    let access: FoundAccess | undefined
    const found = (it: FoundAccess) => {
      access = it
    }
    try {
      return (await Promise.race([act({ io, out }, found, args), out.readerGone])) ?? exitCode.ok
    } catch (error) {
      if (error instanceof UsageError) command.error(`error: ${error.message}`)
      if (error instanceof Interrupted) return error.exitCode
      out.say(explainError(error, access))
      return exitCodeOf(error)
    }
  })
}

/** An invalid format is refused before the command does anything. */
async function formatOf(flags: OwnerFlags, io: Io, command: Command): Promise<Formatter | undefined> {
  try {
    return await formatterOf(flags, io.stdout.isTTY ?? false)
  } catch (error) {
    return error instanceof UsageError ? command.error(`error: ${error.message}`) : Promise.reject(error)
  }
}
