// Executions from the trigger to their end: a real server, a real agent, real processes.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { userName } from '../src/handler/user-name.ts'
import { newDeviceUnderTest } from './support/device-under-test.ts'

const server = await openSharedServer()

test('a handler gets the document, its arguments and its environment, and its output comes back', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('greet', 'cat; echo; echo "$1|$2"; env | grep ^JOBCAST_ | sort; echo oops >&2; pwd')
  await device.start({ environment: { ...process.env, JOBCAST_DEVICE_TOKEN: device.token } })
  const document = { handler: 'greet', args: ['a b', '$(id)'], more: 'ü' }
  const { id, execState, statusDetails, outputCut } = await device.run(document)
  assert.equal(execState, 'SUCCEEDED')
  assert.equal(statusDetails.exitCode, '0')
  assert.match(statusDetails.durationMs ?? '', /^\d+$/)
  assert.equal(outputCut, false)
  const output = (await device.output(id)).toString()
  assert.ok(output.startsWith(`${JSON.stringify(document)}\na b|$(id)\nJOBCAST_ATTEMPT=1\n`), output)
  assert.match(output, new RegExp(`JOBCAST_DEVICE_ID=${device.deviceId}\nJOBCAST_JOB_ID=${id}\n`))
  // Both streams are one pipe.
  assert.match(output, /\noops\n.*state\/executions\/\d+\.1\/work$/m)
  assert.doesNotMatch(output, /TOKEN/)
})

test('a handler gets the trace of its run, and none of the agent or of another run', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('trace', 'echo "<$TRACEPARENT>"')
  const document = { handler: 'trace' }
  await server.call('PUT', '/job/api/jobs/traced', { body: { document } })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const reply = await server.trigger('traced', [device.deviceId], { headers: { traceparent } })
  // Not before: whoever asks for work between the commit and the answer may get it without its trace.
  await device.start()
  const id = reply.json[0].jobExecutionId
  assert.equal((await device.ended(id)).execState, 'SUCCEEDED')
  assert.equal((await device.output(id)).toString(), `<${traceparent}>\n`)
  const untraced = await device.run(document)
  assert.equal((await device.output(untraced.id)).toString(), '<>\n')
})

test('folders may be relative to the working directory of the agent', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('answer', 'echo 7 >"$JOBCAST_RESULT_FILE"')
  const { handlersFolder, stateFolder } = device.options()
  await device.start({ handlersFolder: relative('', handlersFolder), stateFolder: relative('', stateFolder) })
  assert.equal((await device.run({ handler: 'answer' })).result, 7)
})

test('reports how a handler ended: exit code, signal, and the reason of a failure', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('fail', 'exit $1')
  device.addHandler('crash', 'kill -SEGV $$')
  await device.start()
  const failed = await device.run({ handler: 'fail', args: ['3'] })
  assert.deepEqual([failed.execState, failed.statusDetails.exitCode], ['FAILED', '3'])
  assert.equal(failed.statusDetails.reason, 'exited with code 3')
  const crashed = await device.run({ handler: 'crash' })
  assert.deepEqual([crashed.execState, crashed.statusDetails.signal], ['FAILED', 'SIGSEGV'])
  assert.equal(crashed.statusDetails.reason, 'was ended by SIGSEGV')
  assert.equal(crashed.statusDetails.exitCode, undefined)
})

test('a document that the device does not support is refused with a reason, and nothing is started', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  await device.start()
  const refused = async (document: object, reason: RegExp) => {
    const { execState, statusDetails } = await device.run(document)
    assert.equal(execState, 'REJECTED')
    assert.match(statusDetails.reason ?? '', reason)
  }
  await refused({}, /neither a handler nor a command nor steps/)
  await refused({ handler: 'none' }, /there is no handler "none" on this device/)
  await refused({ handler: '../../bin/sh' }, /must be a file name/)
  await refused({ command: ['id'] }, /commands are not allowed/)
  assert.deepEqual(device.log.of('started'), [])
})

test('a command runs only if the device allows it, and never in a shell', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  // Of a folder on the PATH that this user may not read, the system would say that instead.
  const environment = { ...process.env, PATH: '/usr/bin:/bin' }
  await device.start({ allowCommands: true, environment })
  const { id, execState } = await device.run({ command: ['printf', '%s|%s', '$HOME', '; id'] })
  assert.equal(execState, 'SUCCEEDED')
  assert.equal((await device.output(id)).toString(), '$HOME|; id')
  const missing = await device.run({ command: ['no-such-program'] })
  assert.equal(missing.execState, 'REJECTED')
  assert.match(missing.statusDetails.reason ?? '', /"no-such-program" cannot be started: .* does not exist/)
})

test('progress is the last progress line of the handler, and these lines remain in its output', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('work', 'echo "::progress 40 half way"; read line <"$1"; echo "::progress 90.5"')
  const fifo = `${device.folder}/go-on`
  device.addHandler('make-fifo', 'mkfifo "$1"')
  await device.start()
  await device.run({ handler: 'make-fifo', args: [fifo] })
  const id = await device.trigger({ handler: 'work', args: [fifo] })
  const progressOf = async () => (await server.call('GET', `/job/api/executions/${id}`)).json.statusDetails
  await waitUntil('it is at 40 %', async () => (await progressOf()).progress === '40')
  assert.equal((await progressOf()).message, 'half way')
  await writeFile(fifo, 'go\n')
  const { statusDetails } = await device.ended(id)
  assert.deepEqual([statusDetails.progress, statusDetails.message], ['90.5', undefined])
  assert.equal((await device.output(id)).toString(), '::progress 40 half way\n::progress 90.5\n')
})

test('a result is reported as JSON; an invalid one is reported as such and does not affect the outcome', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('answer', 'printf %s "$1" >"$JOBCAST_RESULT_FILE"')
  await device.start()
  const good = await device.run({ handler: 'answer', args: ['{"temperature":21.5,"ok":true}'] })
  assert.deepEqual(good.result, { temperature: 21.5, ok: true })
  const bad = await device.run({ handler: 'answer', args: ['{'] })
  assert.deepEqual([bad.execState, bad.result], ['SUCCEEDED', null])
  assert.equal(bad.statusDetails.resultProblem, 'the result is not JSON')
  const deep = await device.run({ handler: 'answer', args: [`${'['.repeat(100)}${']'.repeat(100)}`] })
  assert.deepEqual([deep.execState, deep.result, deep.statusDetails.exitCode], ['SUCCEEDED', null, '0'])
  assert.match(deep.statusDetails.resultProblem ?? '', /^result /)
})

test('documents of AWS: steps in order, ignored failures, counted stderr, the final step', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('say', 'echo "$JOBCAST_STEP: $1"; exit $2')
  device.addHandler('grumble', 'echo 1 >&2; echo 2 >&2')
  await device.start()
  const say = (name: string, args: string[], more: object = {}) => ({
    action: { name, type: 'runHandler', input: { handler: 'say', args, path: 'default' }, ...more },
  })
  const grumble = (allowStdErr: number) => ({
    action: { name: 'grumble', type: 'runHandler', input: { handler: 'grumble' }, allowStdErr },
  })
  const good = await device.run({
    version: '1.0',
    steps: [
      say('one', ['a'], { runAsUser: userName() }),
      say('two', ['b', '7'], { ignoreStepFailure: 'true' }),
      grumble(2),
    ],
    finalStep: say('end', ['c']),
  })
  assert.equal(good.execState, 'SUCCEEDED')
  assert.equal((await device.output(good.id)).toString(), 'one: a\ntwo: b\n1\n2\nend: c\n')

  const bad = await device.run({ version: '1.0', steps: [grumble(1)], finalStep: say('end', ['c']) })
  assert.equal(bad.execState, 'FAILED')
  assert.equal(bad.statusDetails.step, 'grumble')
  assert.equal(bad.statusDetails.reason, 'printed 2 lines on stderr, and 1 are allowed')
  assert.equal((await device.output(bad.id)).toString(), '1\n2\n')
})

test('executions run one at a time in their order, and a retry is a separate attempt', async (t) => {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('note', `echo "$JOBCAST_JOB_ID $JOBCAST_ATTEMPT" >>"${device.folder}/notes"; exit "$1"`)
  const ids = [
    await device.trigger({ handler: 'note', args: ['0'] }),
    await device.trigger({ handler: 'note', args: ['1'] }, { retry: { max: 1, backoffSeconds: 0 } }),
    await device.trigger({ handler: 'note', args: ['0'] }),
  ]
  await device.start()
  const ends = await Promise.all(ids.map((id) => device.ended(id)))
  assert.deepEqual(
    ends.map(({ execState, attempt }) => [execState, attempt]),
    [
      ['SUCCEEDED', 1],
      ['FAILED', 2],
      ['SUCCEEDED', 1],
    ],
  )
  const started = device.log.of('started').map(({ jobId, attempt }) => `${jobId}.${attempt}`)
  assert.deepEqual(
    started.toSorted(),
    [`${ids[0]}.1`, `${ids[1]}.1`, `${ids[1]}.2`, `${ids[2]}.1`].toSorted(),
  )
  assert.equal(started[0], `${ids[0]}.1`)
})
