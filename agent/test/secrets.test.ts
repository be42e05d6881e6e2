// A nightly job with a token: a schedule fires, and only the handler of either agent gets the secret.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { isChaos } from '@jobcast/testkit/test-size'
import { newDeviceUnderTest } from './support/device-under-test.ts'
import { type AgentProgram, findPrograms, startProgram } from './support/programs.ts'

const server = await openSharedServer()

for (const program of await findPrograms()) {
  if (program.isOther && !isChaos) continue
  describe(program.name, { skip: program.missing ?? false }, () => {
    test('passes a named secret to the handler of a scheduled job, and to no other process', (t) =>
      handsSecret(t, program))
  })
}

async function put(path: string, body: object): Promise<void> {
  const reply = await server.call('PUT', `/job/api/${path}`, { body })
  assert.ok(reply.status < 300, reply.text)
}

async function handsSecret(t: TestContext, program: AgentProgram) {
  const device = await newDeviceUnderTest(t, server)
  const { deviceId } = device
  const value = `it's "${deviceId}" $HOME \\ ü`
  device.addHandler(
    'upload',
    `printf 'token <%s>\\n' "$JOBCAST_SECRET_UPLOAD_TOKEN"; [ "$JOBCAST_SECRET_UPLOAD_TOKEN" = '${value.replaceAll("'", "'\\''")}' ]`,
  )
  startProgram(t, program, device, server.http)
  await put('secrets/upload-token', { value })
  await put(`jobs/upload-${deviceId}`, { document: { handler: 'upload', token: '${secrets.upload-token}' } })
  const when = { cron: '0 3 * * *' }
  await put(`schedules/nightly-${deviceId}`, {
    jobName: `upload-${deviceId}`,
    targets: { deviceIds: [deviceId] },
    when,
  })
  const fired = await server.call('POST', `/job/api/schedules/nightly-${deviceId}/fire`)
  const { runId } = fired.json
  const [{ jobExecutionId }] = (await server.call('GET', `/job/api/executions?runId=${runId}`)).json.items
  const { execState, statusDetails } = await device.ended(jobExecutionId)
  assert.equal(execState, 'SUCCEEDED', JSON.stringify(statusDetails))
  assert.equal((await device.output(jobExecutionId)).toString(), 'token <********>\n')

  const unique = `"${deviceId}" $HOME`
  for (const path of ['secrets', `runs/${runId}/document`, `executions/${jobExecutionId}/history`]) {
    const { text } = await server.call('GET', `/job/api/${path}`)
    assert.ok(!text.includes('$HOME'), path)
  }
  for (const name of readdirSync(server.folder)) {
    const path = join(server.folder, name)
    if (statSync(path).isFile()) assert.ok(!readFileSync(path).includes(unique), `${name} has the value`)
  }
}
