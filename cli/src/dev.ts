// jobcast dev: the service with a sample job and sample devices, and the first call ready to paste.

import { type Config, type RunningServer, readAdminKey } from '@jobcast/server'
import type { Command } from 'commander'
import { openApi } from './local-api.ts'
import { runServer } from './run-server.ts'
import { addSamples, sampleDeviceIds, sampleJobName } from './samples.ts'
import { serverCommand } from './server-options.ts'

export function devCommand(): Command {
  return serverCommand('dev')
    .description('Run the service to try it: with a sample job, sample devices and a call to paste.')
    .action((options) => {
      let asked: Config['logLevel'] = 'info'
      const quietAtFirst = (config: Config): Config => {
        asked = config.logLevel
        return { ...config, logLevel: asked === 'info' ? 'warn' : asked }
      }
      return runServer(options, quietAtFirst, async (server, config) => {
        await welcome(server, config)
        server.setLogLevel(asked)
      })
    })
}

async function welcome(
  { http, mqtt, newAdminKey }: RunningServer,
  { adminKey, dataFolder }: Config,
): Promise<void> {
  const known = [newAdminKey, adminKey, readAdminKey(dataFolder)?.text].filter((key) => key !== undefined)
  for (const apiKey of known) {
    const api = openApi(http, apiKey)
    if (!(await api.isGood())) continue
    await addSamples(api)
    console.log(withKey(http, mqtt, apiKey))
    return
  }
  console.log(withoutKey(http, mqtt, dataFolder))
}

function withKey(http: string, mqtt: string, apiKey: string): string {
  const body = JSON.stringify({ jobName: sampleJobName, deviceIds: sampleDeviceIds.slice(0, 3) })
  return `
  Jobcast is running.

  Open     ${http}/docs     (every call, to read and to try)
  Devices  ${mqtt}, or ${http}/things     (docs/devices.md)
  API key  ${apiKey}

  Paste this into another terminal: it triggers the sample job on three devices.

curl -i ${http}/job/api/jobs/execute -H 'X-API-Key: ${apiKey}' -H 'Content-Type: application/json' -d '${body}'

  Then see what became of it:

curl ${http}/job/api/executions -H 'X-API-Key: ${apiKey}'

  Ctrl-C stops it. What you made is kept and there again at the next start.
`
}

function withoutKey(http: string, mqtt: string, dataFolder: string): string {
  return `
  Jobcast is running.

  Open     ${http}/docs     (every call, to read and to try)
  Devices  ${mqtt}, or ${http}/things     (docs/devices.md)
  The key in ${dataFolder}/admin-key is missing or revoked; use one of your own.
`
}
