// What `jobcast dev` says once it runs.

import { sampleDeviceIds, sampleJobName, switchedOffId } from './samples.ts'
import { failingId } from './simulated-samples.ts'

export type Welcome = {
  http: string
  mqtt: string
  apiKey: string
  /** Signs in to the console, once. */
  ticket: string
  /** The sample devices that are simulated. */
  simulatedIds: string[]
}

export function welcomeText({ http, mqtt, apiKey, ticket, simulatedIds }: Welcome): string {
  const { deviceIds, promise, awaited } = storyOf(simulatedIds)
  const body = JSON.stringify({ jobName: sampleJobName, deviceIds })
  const key = `-H 'X-API-Key: ${apiKey}'`
  const commandLine = awaited.length === 0 ? '' : commandLineOf(http, apiKey, awaited)
  // Behind a #: no server and no log gets to see the ticket.
  const signIn = `${http}/sign-in#ticket=${ticket}     (signs in once; later ${http})`
  return `
${headOf(http, mqtt, signIn)}
  API key  ${apiKey}

  Paste this into another terminal: it triggers the sample job on three devices.
  ${promise}

curl -i ${http}/job/api/jobs/execute ${key} -H 'Content-Type: application/json' -d '${body}'

  Then see what became of it; 1 and 3 stand for a jobExecutionId of the answer:

curl ${http}/job/api/executions ${key}
curl ${http}/job/api/executions/3/explain ${key}
curl -N '${http}/job/api/executions/1/output?follow=true' ${key}
${commandLine}
  Ctrl-C stops it. What you made is kept and there again at the next start.
`
}

export function welcomeWithoutKey(http: string, mqtt: string, dataFolder: string): string {
  return `
${headOf(http, mqtt, http)}
  The key in ${dataFolder}/admin-key is missing or revoked; use one of your own.
`
}

function headOf(http: string, mqtt: string, open: string): string {
  return `  Jobcast is running.

  Open     ${open}
  API      ${http}/docs     (every call, to read and to try)
  Devices  ${mqtt}, or ${http}/things     (docs/devices.md)`
}

function commandLineOf(http: string, apiKey: string, deviceIds: string[]): string {
  const devices = deviceIds.map((deviceId) => `--device ${deviceId}`).join(' ')
  return `
  Or by the command line, which waits for the end and shows what fails (docs/cli.md):

JOBCAST_URL=${http} JOBCAST_API_KEY=${apiKey} npx jobcast trigger ${sampleJobName} ${devices} --wait
`
}

/** Three devices with three fates, where they are simulated; `awaited` are those that come to an end. */
function storyOf(simulatedIds: string[]): { deviceIds: string[]; promise: string; awaited: string[] } {
  const [good] = simulatedIds.filter((deviceId) => deviceId !== failingId)
  if (good === undefined || !simulatedIds.includes(failingId)) {
    const promise =
      'Nobody is these devices: an execution stays PENDING until something signs in as its device.'
    return { deviceIds: sampleDeviceIds.slice(0, 3), promise, awaited: [] }
  }
  const promise = `${good} is simulated and works for some seconds, ${failingId} always fails, ${switchedOffId} is switched off.`
  const awaited = [good, failingId]
  return { deviceIds: [...awaited, switchedOffId], promise, awaited }
}
