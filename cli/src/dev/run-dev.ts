// Runs a server with sample data until a signal, and prints what its simulated devices do.

import { buildConsoleIfStale } from '@jobcast/console/build'
import type { SignInTicket } from '@jobcast/contract'
import { type Config, type RunningServer, readAdminKey } from '@jobcast/server'
import type { ExitCode } from '../errors/exit-code.ts'
import type { Io, TextOutput } from '../io.ts'
import { clockTime } from '../output/clock-time.ts'
import { runServer } from '../serve/run-server.ts'
import { type LocalApi, openApi } from './local-api.ts'
import { addSamples } from './samples.ts'
import { findSimulated, simulateSamples } from './simulated-samples.ts'
import { onlineLine, storyLine } from './story-line.ts'
import { welcomeText, welcomeWithoutKey } from './welcome.ts'

export async function runDev(io: Io, options: Record<string, unknown>): Promise<ExitCode> {
  // Built before the server starts, which reads it at start. Everything else works without the console.
  await buildConsoleIfStale().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    io.stderr.write(`Warning: the console could not be built and is not served. ${why}\n`)
  })
  let asked: Config['logLevel'] = 'info'
  // The welcome text comes first, without the log lines of our own set-up calls.
  const quietAtFirst = (config: Config): Config => {
    asked = config.logLevel
    // On a terminal, show the lines of the devices, and of requests only the failed ones.
    const isForPeople = io.stdout.isTTY && !config.jsonLog
    return {
      ...config,
      logLevel: asked === 'info' ? 'warn' : asked,
      requestLogLevel: isForPeople ? 'debug' : 'info',
    }
  }
  return runServer(io, options, quietAtFirst, async (server, config) => {
    const stopDevices = await showWelcome(io.stdout, server, config, options.sim !== false)
    server.setLogLevel(asked)
    return stopDevices
  })
}

/** Returns how to stop the devices that it has started. */
async function showWelcome(
  stdout: TextOutput,
  server: RunningServer,
  config: Config,
  wantsDevices: boolean,
): Promise<(() => Promise<void>) | undefined> {
  const { http, mqtt } = server
  const { dataFolder, jsonLog } = config
  const found = await findAdminKey(server, config)
  if (found === undefined) {
    stdout.write(`${welcomeWithoutKey(http, mqtt, dataFolder)}\n`)
    return undefined
  }
  const { api, apiKey } = found
  await addSamples(api, dataFolder)
  const simulated = wantsDevices ? await findSimulated(api, dataFolder) : []
  const simulatedIds = simulated.map(({ deviceId }) => deviceId)
  const { ticket } = (await api.post('/job/api/session/tickets')) as SignInTicket
  stdout.write(`${welcomeText({ http, mqtt, apiKey, ticket, simulatedIds })}\n`)
  // With --json-log, standard output has only JSON lines.
  const say = (line: string | undefined) => {
    if (!jsonLog && line !== undefined) stdout.write(`${clockTime()}  ${line}\n`)
  }
  const fleet = simulateSamples(mqtt, simulated, (event) => say(storyLine(event)))
  void fleet.whenUp().then(() => say(onlineLine(fleet.counts())))
  return () => fleet.stop()
}

async function findAdminKey(
  { http, newAdminKey }: RunningServer,
  { adminKey, dataFolder }: Config,
): Promise<{ api: LocalApi; apiKey: string } | undefined> {
  const candidates = [newAdminKey, adminKey, readAdminKey(dataFolder)?.text].filter(
    (key) => key !== undefined,
  )
  for (const apiKey of candidates) {
    const api = openApi(http, apiKey)
    if (await api.hasAccess()) return { api, apiKey }
  }
  return undefined
}
