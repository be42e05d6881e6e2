// Runs an agent until a signal, and prints its log.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { defaultTopicPrefix, isNewDeviceId } from '@jobcast/contract'
import { audienceProblem } from '@jobcast/contract/signature'
import { type AgentOptions, defaultMaxOutputBytes, startAgent } from '../agent.ts'
import { readCertificate } from '../device/read-certificate.ts'
import { checkToken, readPasswordFile, readTokenFile } from '../device/read-token.ts'
import type { AgentEvent } from '../events.ts'
import { parseRate } from '../files/limit-rate.ts'
import { logLine } from '../log-lines.ts'
import { httpAddress, mqttAddress, webSocketAddress } from '../transport/server-address.ts'
import type { AgentFlags } from './flags.ts'
import { type ExitCode, exitCode, type ProcessIo } from './process-io.ts'

export async function runAgent(io: ProcessIo, flags: AgentFlags): Promise<ExitCode> {
  const { stdout, stderr, env } = io
  // The agent continues when its log can no longer be written.
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined)
  try {
    const options = optionsOf(flags, env)
    if (isClearText(options.server.url)) {
      stderr.write(
        `Warning: the token is sent in clear text to ${options.server.url}; use https, wss or mqtts.\n`,
      )
    }
    const agent = await startAgent({ ...options, tell: printTo(io) })
    await untilSignal(io)
    await agent.stop()
    return exitCode.ok
  } catch (error) {
    stderr.write(`${explain(error)}\n`)
    const canBeFixed = error instanceof FlagError || (error as Error).name === 'StartRefused'
    return canBeFixed ? exitCode.usage : exitCode.unexpected
  }
}

/** Further SIGTERMs are ignored; a second Ctrl-C finds no listener and ends the process at once. */
function untilSignal({ signals }: ProcessIo): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      signals.off('SIGINT', end)
      resolve()
    }
    signals.on('SIGTERM', end)
    signals.on('SIGINT', end)
  })
}

/** Everything that is wrong with the flags. */
class FlagError extends Error {
  readonly problems: readonly string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** Omits the stack for problems that the user can fix: flags, handlers, a folder without access. */
function explain(error: unknown): string {
  if (error instanceof FlagError) {
    return ['jobcast: the agent cannot start:', ...error.problems.map((problem) => `  - ${problem}`)].join(
      '\n',
    )
  }
  const { name, message, stack, code } = error as NodeJS.ErrnoException
  const isExpected = name === 'StartRefused' || code !== undefined
  return `jobcast: the agent cannot start: ${isExpected ? message : stack}`
}

/** Reports all problems together. */
function optionsOf(flags: AgentFlags, env: NodeJS.ProcessEnv): AgentOptions {
  const problems: string[] = []
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      problems.push((error as Error).message)
      return undefined
    }
  }
  const { device = '', handlers = '', tokenFile } = flags
  const token = env.JOBCAST_DEVICE_TOKEN
  const readPassword = () => (tokenFile === undefined ? (token ?? '') : readPasswordFile(tokenFile))
  const readDeviceToken = () =>
    tokenFile === undefined ? checkToken(token ?? '', 'JOBCAST_DEVICE_TOKEN') : readTokenFile(tokenFile)
  const readToken = flags.broker === undefined ? readDeviceToken : readPassword
  const server = attempt(() => serverOf(flags))
  const trust = attempt(() => trustOf(flags))
  problems.push(...emptyTrust(env))
  if (!isNewDeviceId(device)) problems.push('--device must be the deviceId of this device')
  if (handlers === '') problems.push('--handlers must name a folder')
  if (tokenFile === undefined && token === undefined && !server?.readCertificate)
    problems.push('--token-file must name a file')
  else attempt(readToken)
  const maxOutputBytes = Number(flags.maxOutputBytes ?? defaultMaxOutputBytes)
  if (!Number.isSafeInteger(maxOutputBytes) || maxOutputBytes < 1) {
    problems.push('--max-output-bytes must be a positive integer')
  }
  const maxRate = flags.limitRate === undefined ? undefined : parseRate(flags.limitRate)
  if (flags.limitRate !== undefined && maxRate === undefined) {
    problems.push(
      '--limit-rate must be a number of bytes per second from 4096 on, such as 500000, 200K or 2M',
    )
  }
  if (server === undefined || problems.length > 0) {
    throw new FlagError(problems)
  }
  return {
    deviceId: device,
    server,
    readToken,
    handlersFolder: handlers,
    stateFolder: flags.state ?? defaultStateFolder(device),
    allowCommands: flags.allowCommands ?? false,
    maxOutputBytes,
    environment: env,
    ...(maxRate !== undefined && { maxRate }),
    ...(flags.attributesFile !== undefined && { attributesFile: flags.attributesFile }),
    ...(trust && { trust }),
  }
}

function serverOf(flags: AgentFlags): AgentOptions['server'] {
  const { url, mqtt, http, broker, brokerPrefix, brokerCertFile, brokerKeyFile } = flags
  const onlyBroker = { '--broker-prefix': brokerPrefix, '--broker-cert-file': brokerCertFile }
  for (const [flag, value] of Object.entries(onlyBroker))
    if (broker === undefined && value !== undefined) throw new Error(`${flag} needs --broker`)
  if ((brokerCertFile === undefined) !== (brokerKeyFile === undefined))
    throw new Error('--broker-cert-file and --broker-key-file must be set together')
  if (broker !== undefined && (mqtt !== undefined || http))
    throw new Error('--broker cannot be used together with --mqtt or --http')
  if (brokerPrefix !== undefined && !/^[^/+#][^+#]*[^/+#]$/.test(brokerPrefix))
    throw new Error('--broker-prefix must be a topic such as $aws/things')
  if (broker !== undefined) return brokerOf(broker, flags)
  if (mqtt !== undefined && http) throw new Error('--mqtt and --http cannot be used together')
  if (mqtt !== undefined) return { by: 'mqtt', url: mqttAddress(mqtt) }
  if (url === undefined) throw new Error('--url must be the address of the service')
  return http ? { by: 'http', url: httpAddress(url) } : { by: 'mqtt', url: webSocketAddress(url) }
}

function brokerOf(broker: string, flags: AgentFlags): AgentOptions['server'] {
  const {
    brokerPrefix: topicPrefix = defaultTopicPrefix,
    brokerCertFile: certFile,
    brokerKeyFile: keyFile,
  } = flags
  const server = { by: 'mqtt', url: mqttAddress(broker), topicPrefix } as const
  if (certFile === undefined || keyFile === undefined) return server
  if (!/^(mqtts|wss):/.test(server.url))
    throw new Error('--broker-cert-file needs an address with mqtts or wss')
  const read = () => readCertificate(certFile, keyFile)
  read()
  return { ...server, readCertificate: read }
}

/** --require-signature means at least one signature. */
function trustOf(flags: AgentFlags): AgentOptions['trust'] {
  const { trust, requireSignature, requireSignatures, audience } = flags
  const given = Number(requireSignatures ?? 0)
  if (requireSignatures !== undefined && !(Number.isSafeInteger(given) && given >= 1)) {
    throw new Error('--require-signatures must be a positive integer')
  }
  const requiredSignatures = Math.max(given, requireSignature ? 1 : 0)
  const problem = audience === undefined ? undefined : audienceProblem(audience)
  if (problem !== undefined) throw new Error(`--audience ${problem}`)
  if (trust === '') throw new Error('--trust must name the file of the keys that are trusted')
  if (trust !== undefined) return { keysFile: trust, requiredSignatures, ...(audience && { audience }) }
  if (requiredSignatures > 0 || audience !== undefined)
    throw new Error('--trust must name the file of the keys that are trusted')
  return undefined
}

/** An empty or misspelled variable would silently disable a check that the user wanted. */
function emptyTrust(env: NodeJS.ProcessEnv): string[] {
  const names = ['JOBCAST_TRUST', 'JOBCAST_REQUIRE_SIGNATURES', 'JOBCAST_AUDIENCE']
  const problems = names.filter((name) => env[name] === '').map((name) => `${name} is empty`)
  if (env.JOBCAST_REQUIRE_SIGNATURE !== undefined)
    problems.push('JOBCAST_REQUIRE_SIGNATURE is not a setting; set JOBCAST_REQUIRE_SIGNATURES=1')
  return problems
}

function isClearText(address: string): boolean {
  const url = new URL(address)
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  return ['http:', 'ws:', 'mqtt:'].includes(url.protocol) && !isLoopback
}

function defaultStateFolder(device: string): string {
  const base = process.getuid?.() === 0 ? '/var/lib/jobcast-agent' : join(homedir(), '.jobcast-agent')
  return join(base, device)
}

/** An outage of days is one line, not one per attempt. */
function printTo({ stdout, stderr }: ProcessIo): (event: AgentEvent) => void {
  let lastLine = ''
  return (event) => {
    const line = logLine(event)
    const stream = event.kind === 'handlers-writable' ? stderr : stdout
    if (line !== lastLine) stream.write(`${line}\n`)
    lastLine = line
  }
}
