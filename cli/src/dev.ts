// jobcast dev: the service with a sample job and sample devices, and the first call ready to paste.

import { type Config, type RunningServer, readAdminKey } from '@jobcast/server'
import type { Command } from 'commander'
import { runServer } from './run-server.ts'
import { addSamples, sampleDeviceIds, sampleJobName } from './samples.ts'
import { serverCommand } from './server-options.ts'

export function devCommand(): Command {
  return serverCommand('dev')
    .description('Run the service to try it: with a sample job, sample devices and a call to paste.')
    .action((options) => runServer(options, quietUnlessAsked(options), welcome))
}

/** Somebody who tries it wants to see the calls, not a line for each of our own. */
function quietUnlessAsked(options: Record<string, unknown>) {
  return (config: Config): Config => ({
    ...config,
    jsonLog: Boolean(options.jsonLog),
  })
}

async function welcome(server: RunningServer, { adminKey, dataFolder }: Config): Promise<void> {
  const apiKey = server.newAdminKey ?? adminKey ?? readAdminKey(dataFolder)?.text
  if (server.newAdminKey) await addSamples(server.http, server.newAdminKey)
  console.log(apiKey === undefined ? withoutKey(server.http, dataFolder) : withKey(server.http, apiKey))
}

function withKey(http: string, apiKey: string): string {
  const body = JSON.stringify({ jobName: sampleJobName, deviceIds: sampleDeviceIds.slice(0, 3) })
  return `
  Jobcast is running.

  Open     ${http}/docs     (every call, to read and to try)
  API key  ${apiKey}

  Paste this into another terminal: it triggers the sample job on three devices.

curl -i ${http}/job/api/jobs/execute -H 'X-API-Key: ${apiKey}' -H 'Content-Type: application/json' -d '${body}'

  Then see what became of it:

curl ${http}/job/api/executions -H 'X-API-Key: ${apiKey}'

  Ctrl-C stops it. What you made is kept and there again at the next start.
`
}

function withoutKey(http: string, dataFolder: string): string {
  return `
  Jobcast is running.

  Open     ${http}/docs     (every call, to read and to try)
  There is no admin key in ${dataFolder}/admin-key; use one of your own.
`
}
