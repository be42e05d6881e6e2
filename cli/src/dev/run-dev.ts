// Runs a server with samples until a signal, and tells what its simulated devices do.

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
  // Before the server, which reads it when it starts. Without it all else works.
  await buildConsoleIfStale().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    io.stderr.write(`The console could not be built and is not served; everything else works. ${why}\n`)
  })
  let asked: Config['logLevel'] = 'info'
  // The welcome comes first, not our own set-up calls.
  const quietAtFirst = (config: Config): Config => {
    asked = config.logLevel
    return { ...config, logLevel: asked === 'info' ? 'warn' : asked }
  }
  return runServer(io, options, quietAtFirst, async (server, config) => {
    const stopDevices = await present(io.stdout, server, config, options.sim !== false)
    server.setLogLevel(asked)
    return stopDevices
  })
}

/** Gives back how to stop the devices that it has brought online. */
async function present(
  stdout: TextOutput,
  server: RunningServer,
  config: Config,
  wantsDevices: boolean,
): Promise<(() => Promise<void>) | undefined> {
  const { http, mqtt } = server
  const { dataFolder, jsonLog } = config
  const known = await findGoodKey(server, config)
  if (known === undefined) {
    stdout.write(`${welcomeWithoutKey(http, mqtt, dataFolder)}\n`)
    return undefined
  }
  const { api, apiKey } = known
  await addSamples(api, dataFolder)
  const simulated = wantsDevices ? await findSimulated(api, dataFolder) : []
  const simulatedIds = simulated.map(({ deviceId }) => deviceId)
  const { ticket } = (await api.post('/job/api/session/tickets')) as SignInTicket
  stdout.write(`${welcomeText({ http, mqtt, apiKey, ticket, simulatedIds })}\n`)
  // Programs that read JSON lines have the API to ask.
  const say = (line: string | undefined) => {
    if (!jsonLog && line !== undefined) stdout.write(`${clockTime()}  ${line}\n`)
  }
  const fleet = simulateSamples(mqtt, simulated, (event) => say(storyLine(event)))
  void fleet.whenUp().then(() => say(onlineLine(fleet.counts())))
  return () => fleet.stop()
}

async function findGoodKey(
  { http, newAdminKey }: RunningServer,
  { adminKey, dataFolder }: Config,
): Promise<{ api: LocalApi; apiKey: string } | undefined> {
  const known = [newAdminKey, adminKey, readAdminKey(dataFolder)?.text].filter((key) => key !== undefined)
  for (const apiKey of known) {
    const api = openApi(http, apiKey)
    if (await api.isGood()) return { api, apiKey }
  }
  return undefined
}
