// What a page runs on: a service as `npm start` starts it, in a folder that is laid out like the repository.

import { symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { startFleet } from '@jobcast/sim'
import { compileCache } from '@jobcast/testkit/compile-cache'
import { freePort } from '@jobcast/testkit/free-port'
import { openServer } from '@jobcast/testkit/open-server'
import { program } from '@jobcast/testkit/program'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { openApi } from '../../cli/src/dev/local-api.ts'
import { addSamples } from '../../cli/src/dev/samples.ts'
import { failingId, findSimulated } from '../../cli/src/dev/simulated-samples.ts'
import { storyLine } from '../../cli/src/dev/story-line.ts'
import { openCommandLine } from './command-line.ts'
import { DeviceLog } from './device-log.ts'
import { repository } from './pages.ts'
import type { Workspace } from './terminal.ts'

export type Sandbox = Workspace & {
  /** The addresses of the pages, and what they are here. */
  addresses: readonly (readonly [documented: string, real: string])[]
  /** What `npm start` has printed about its devices so far. */
  deviceLog: DeviceLog
  /** The highest ids given out so far. Pages are written as if they were read on a new service, where both are 0. */
  lastIds: () => Promise<LastIds>
}

export type LastIds = { runId: number; jobExecutionId: number }

type Addresses = { http: string; mqtt: string }

export async function openSandbox(t: TestContext): Promise<Sandbox> {
  const folder = newTemporaryFolder()
  const dataFolder = join(folder, 'data')
  const { server, adminKey, call } = await openServer(t, {
    ...{ dataFolder, webhookAllow: ['127.0.0.1'], ddiPollSeconds: 1 },
  })
  removeAfter(t, folder)
  const deviceLog = await startDevices(t, server, dataFolder, adminKey)
  // For the receiver of webhooks, which listens on PORT.
  const receiverPort = await freePort()
  const commandPort = await openCommandLine(t, folder)
  layOut(folder)
  return {
    folder,
    deviceLog,
    async lastIds() {
      const [run, execution] = await Promise.all(
        ['runs', 'executions'].map(
          async (list) => (await call('GET', `/job/api/${list}?limit=1`)).json.items[0],
        ),
      )
      return { runId: run?.runId ?? 0, jobExecutionId: execution?.jobExecutionId ?? 0 }
    },
    addresses: [
      ['127.0.0.1:8080', new URL(server.http).host],
      ['127.0.0.1:1883', new URL(server.mqtt).host],
      ['127.0.0.1:9000', `127.0.0.1:${receiverPort}`],
    ],
    env: {
      ...environmentOf(folder, server, adminKey),
      PORT: String(receiverPort),
      TEST_COMMAND_PORT: String(commandPort),
    },
  }
}

/** Those of `npm start`, but they work for a moment only, and what they do is the same every time. */
async function startDevices(
  t: TestContext,
  { http, mqtt }: Addresses,
  dataFolder: string,
  adminKey: string,
): Promise<DeviceLog> {
  const api = openApi(http, adminKey)
  await addSamples(api, dataFolder)
  const devices = (await findSimulated(api, dataFolder)).map((credential) =>
    credential.deviceId === failingId ? { ...credential, pattern: { failureRate: 1 } } : credential,
  )
  const deviceLog = new DeviceLog()
  const fleet = startFleet({
    mqtt,
    devices,
    pattern: { workSeconds: { from: 0.1, to: 0.2 }, outputLines: 5 },
    seed: 0,
    tell: (event) => deviceLog.add(storyLine(event) ?? ''),
  })
  t.after(() => fleet.stop())
  await fleet.whenUp()
  return deviceLog
}

function layOut(folder: string): void {
  for (const name of ['node_modules', 'docs', 'deploy', 'client'])
    symlinkSync(join(repository, name), join(folder, name))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  // On a terminal curl draws no progress.
  writeFileSync(join(folder, '.curlrc'), 'silent\nshow-error\n')
}

function environmentOf(folder: string, { http, mqtt }: Addresses, adminKey: string): Record<string, string> {
  return {
    PATH: [join(repository, 'docs/test/bin'), dirname(process.execPath), process.env.PATH].join(':'),
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, '.config'),
    TEST_MQTT: mqtt,
    TEST_PROGRAM: program,
    JOBCAST_URL: http,
    JOBCAST_API_KEY: adminKey,
    // For a page that starts a service of its own: 8080 and ./data are taken.
    JOBCAST_PORT: '0',
    JOBCAST_MQTT_PORT: '0',
    JOBCAST_DATA: join(folder, 'other-data'),
    // Root's agent would remember in /var/lib.
    JOBCAST_STATE: join(folder, 'agent-state'),
    NODE_COMPILE_CACHE: compileCache,
    NO_COLOR: '1',
  }
}
