// jobcast api: any call of the HTTP API, with the address and the key of the profile.

import { ConnectionError, type ErrorCode, JobcastError, UnexpectedAnswer } from '@jobcast/client'
import { type Command, InvalidArgumentError } from 'commander'
import { type OwnerContext, ownerCommand, withClient } from '../define/owner-command.ts'
import { type ExitCode, exitCode, exitCodeOf } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { choiceArgument } from '../flags/choice.ts'
import { repeatable } from '../flags/target-devices.ts'
import { readText } from '../input/read-content.ts'
import type { Io } from '../io.ts'
import type { Out } from '../output/out.ts'
import type { OutputFormat } from '../output/output-format.ts'
import { filterFor } from '../output/terminal-filter.ts'
import { reasonOf } from '../service/reach.ts'
import { listenForInterrupt } from '../signals/interrupt.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

type ApiFlags = { data?: string; header?: [name: string, value: string][]; output?: OutputFormat }

export function apiCommand(): Command {
  return ownerCommand('api')
    .addArgument(choiceArgument('<method>', 'HTTP method', methods))
    .argument('<path>', 'path of the API, for example /job/api/jobs?limit=5', pathOf)
    .option('-d, --data <body>', 'request body: JSON, @file, or - for standard input')
    .addOption(repeatable('-H, --header <name: value>', 'request header; can be repeated', headerOf))
    .addHelpText(
      'after',
      "\nExamples:\n  jobcast api GET '/job/api/executions?execState=FAILED'\n" +
        '  jobcast api PUT /job/api/devices/kiosk-1 -d \'{"tags":["berlin"]}\'\n',
    )
    .action(withClient(callApi))
}

async function callApi(
  { access, io, out, reach }: OwnerContext,
  method: string,
  path: string,
  flags: ApiFlags,
): Promise<ExitCode> {
  const { signal, stop } = listenForInterrupt(io)
  try {
    const body = flags.data === undefined ? undefined : await bodyOf(io, flags.data)
    const response = await reach.fetch(access.url.replace(/\/+$/, '') + path, {
      method,
      headers: {
        accept: 'application/json, application/problem+json, */*',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...Object.fromEntries(flags.header ?? []),
        'x-api-key': access.apiKey,
      },
      ...(body !== undefined && { body }),
      // The key must not follow a redirect to another host.
      redirect: 'manual',
      signal,
    })
    const isShown = response.ok && flags.output !== undefined
    const text = isShown ? await showBody(response, out) : await printBody(response, { io, out, signal })
    if (response.ok) return exitCode.ok
    out.say(`HTTP ${response.status}`)
    return exitCodeOf(errorOf(response.status, text))
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error instanceof TypeError ? new ConnectionError(reasonOf(error), { cause: error }) : error
  } finally {
    stop()
  }
}

/** Prints a JSON body in another format. It must be complete first, so this does not work for streams. */
async function showBody(response: Response, out: Out): Promise<string> {
  const type = response.headers.get('content-type') ?? 'nothing'
  if (!/^application\/(?:[\w.-]+\+)?json\b/.test(type)) {
    await response.body?.cancel()
    throw new UsageError(`--output needs a JSON response; this one is ${type}`)
  }
  out.show(await response.json(), () => '')
  return ''
}

/** Prints the body as it arrives: a response may be an endless stream. Returns the text of an error. */
async function printBody(
  { ok, body }: Response,
  { io, out, signal }: Pick<OwnerContext, 'io' | 'out'> & { signal: AbortSignal },
): Promise<string> {
  const filter = filterFor(io.stdout, {})
  const decoder = new TextDecoder()
  let text = ''
  let endsWithNewline = true
  for await (const bytes of body ?? []) {
    if (!ok) text += decoder.decode(bytes, { stream: true })
    endsWithNewline = bytes.at(-1) === 0x0a
    await out.bytes(filter.push(bytes), signal)
  }
  // Otherwise the shell's prompt would follow the JSON document on the same line.
  const newline = io.stdout.isTTY && !endsWithNewline ? '\n' : ''
  await out.bytes(filter.end() + filter.resetColors() + newline, signal)
  return text
}

/** The error that leads to the right exit code. */
function errorOf(status: number, text: string): Error {
  const [, code] = /"code":\s*"(J-\d{3})"/.exec(text) ?? []
  if (code === undefined) return new UnexpectedAnswer(`HTTP ${status}`, status)
  return new JobcastError({ code: code as ErrorCode, status, message: text })
}

function bodyOf(io: Io, data: string): Promise<string> | string {
  if (data === '-') return readText(io, '-')
  return data.startsWith('@') ? readText(io, data.slice(1)) : data
}

function pathOf(text: string): string {
  if (!/^\/[\x21-\x7e]*$/.test(text))
    throw new InvalidArgumentError('It must be a path such as /job/api/jobs, percent-encoded.')
  return text
}

function headerOf(text: string): [name: string, value: string] {
  const [, name = '', value = ''] = /^([\w-]+): *([\x20-\x7e]*)$/.exec(text) ?? []
  if (name === '' || name.toLowerCase() === 'x-api-key')
    throw new InvalidArgumentError(
      'It must be like "Idempotency-Key: deploy-1"; the key comes from the profile.',
    )
  return [name, value]
}
