// What `jobcast dev` prints when it has started.

import { sampleDeviceIds, sampleJobName, switchedOffId } from './samples.ts'
import { failingId } from './simulated-samples.ts'

type Welcome = {
  http: string
  mqtt: string
  apiKey: string
  /** Single-use sign-in to the console. */
  ticket: string
  /** The sample devices that are simulated. */
  simulatedIds: string[]
}

export function welcomeText({ http, mqtt, apiKey, ticket, simulatedIds }: Welcome): string {
  const { deviceIds, outlook, awaited } = exampleOf(simulatedIds)
  const body = JSON.stringify({ jobName: sampleJobName, deviceIds })
  const key = `-H 'X-API-Key: ${apiKey}'`
  const commandLine = awaited.length === 0 ? '' : commandLineOf(http, apiKey, awaited)
  // The ticket follows the #, so that it reaches no server and no log.
  const signIn = `${http}/sign-in#ticket=${ticket}     (signs in once; afterwards use ${http})`
  return `
${headOf(http, mqtt, signIn)}
  API key  ${apiKey}

  Paste this into another terminal to trigger the sample job on three devices:
  ${outlook}

curl -i ${http}/job/api/jobs/execute ${key} -H 'Content-Type: application/json' -d '${body}'

  Then look at the executions; replace 1 and 3 with jobExecutionIds from the response:

curl ${http}/job/api/executions ${key}
curl ${http}/job/api/executions/3/explain ${key}
curl -N '${http}/job/api/executions/1/output?follow=true' ${key}
${commandLine}
  Press Ctrl-C to stop. Your data is kept for the next start.
`
}

export function welcomeWithoutKey(http: string, mqtt: string, dataFolder: string): string {
  return `
${headOf(http, mqtt, http)}
  The key in ${dataFolder}/admin-key is missing or revoked; use another API key.
`
}

function headOf(http: string, mqtt: string, open: string): string {
  return `  Jobcast is running.

  Open     ${open}
  API      ${http}/docs     (API reference, to read and to try)
  Devices  ${mqtt}, or ${http}/things     (docs/devices.md)`
}

function commandLineOf(http: string, apiKey: string, deviceIds: string[]): string {
  const devices = deviceIds.map((deviceId) => `--device ${deviceId}`).join(' ')
  return `
  Or use the command line, which waits until the run has finished (docs/cli.md):

JOBCAST_URL=${http} JOBCAST_API_KEY=${apiKey} npx --no-install jobcast trigger ${sampleJobName} ${devices} --wait
`
}

/** Three devices with different outcomes, if they are simulated; the executions of `awaited` end. */
function exampleOf(simulatedIds: string[]): { deviceIds: string[]; outlook: string; awaited: string[] } {
  const [working] = simulatedIds.filter((deviceId) => deviceId !== failingId)
  if (working === undefined || !simulatedIds.includes(failingId)) {
    const outlook = 'No device is connected: an execution stays PENDING until its device signs in.'
    return { deviceIds: sampleDeviceIds.slice(0, 3), outlook, awaited: [] }
  }
  const outlook = `${working} is simulated and takes a few seconds, ${failingId} always fails, ${switchedOffId} is switched off.`
  const awaited = [working, failingId]
  return { deviceIds: [...awaited, switchedOffId], outlook, awaited }
}
