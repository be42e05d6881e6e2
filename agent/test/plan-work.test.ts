import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planWork } from '../src/document/plan-work.ts'

const rules = { allowCommands: false, userName: 'kiosk', handlersFolder: '/opt/handlers' }
const plain = { allowStdErr: undefined, ignoreFailure: false }
const asIs = { onInterrupt: 'report', timeoutMs: undefined }

test('a document has a handler with arguments, a time limit and the action after an interruption', () => {
  assert.deepEqual(planWork({ handler: 'restart', args: ['app'], more: 1 }, rules), {
    kind: 'work',
    work: {
      steps: [{ name: 'restart', runs: 'handler', program: 'restart', args: ['app'], ...plain }],
      ...asIs,
    },
  })
  const plan = planWork({ handler: 'a.sh', timeoutSeconds: 1.5, onInterrupt: 'rerun' }, rules)
  assert.ok(plan.kind === 'work')
  assert.deepEqual([plan.work.timeoutMs, plan.work.onInterrupt], [1500, 'rerun'])
})

test('a command is a list of words, none of which is interpreted by a shell', () => {
  const plan = planWork({ command: ['echo', '$HOME; rm -rf /'] }, { ...rules, allowCommands: true })
  assert.ok(plan.kind === 'work')
  assert.deepEqual(plan.work.steps, [
    { name: 'echo', runs: 'command', program: 'echo', args: ['$HOME; rm -rf /'], ...plain },
  ])
})

test('the schema of AWS is converted to the same kind of steps, with the final one last', () => {
  const handler = (name: string, more: object = {}) => ({
    action: {
      name,
      type: 'runHandler',
      input: { handler: `${name}.sh`, args: ['x'], path: 'default' },
      ...more,
    },
  })
  const document = {
    version: '1.0',
    includeStdOut: true,
    conditions: [],
    steps: [
      handler('one', { runAsUser: 'kiosk', allowStdErr: 2 }),
      handler('two', { ignoreStepFailure: 'true', runAsUser: '' }),
      { action: { type: 'runCommand', input: { command: 'echo,a\\,b, c' } } },
      { action: { type: 'runCommand', input: { command: ['echo', 'a,b'] } } },
    ],
    finalStep: handler('last', { input: { handler: 'last.sh', path: '/opt/handlers/' } }),
  }
  const plan = planWork(document, { ...rules, allowCommands: true })
  assert.ok(plan.kind === 'work')
  assert.deepEqual(plan.work.steps, [
    { name: 'one', runs: 'handler', program: 'one.sh', args: ['x'], ...plain, allowStdErr: 2 },
    { name: 'two', runs: 'handler', program: 'two.sh', args: ['x'], ...plain, ignoreFailure: true },
    { name: 'step 3', runs: 'command', program: 'echo', args: ['a,b', 'c'], ...plain },
    { name: 'step 4', runs: 'command', program: 'echo', args: ['a,b'], ...plain },
    { name: 'last', runs: 'handler', program: 'last.sh', args: [], ...plain },
  ])
})

const step = (action: object) => ({ version: '1.0', steps: [{ action }] })
const refusals: [unknown, RegExp][] = [
  [null, /not a JSON object/],
  [['handler'], /not a JSON object/],
  [{}, /neither a handler nor a command nor steps/],
  [{ operation: 'echo' }, /neither a handler nor a command nor steps/],
  [{ handler: 'a', command: ['a'] }, /more than one of/],
  [{ handler: 5 }, /handler is not a string/],
  [{ handler: '' }, /has no name/],
  [{ handler: '../sh' }, /must be a file name/],
  [{ handler: 'a/b' }, /must be a file name/],
  [{ handler: '/bin/sh' }, /must be a file name/],
  [{ handler: '..' }, /must be a file name/],
  [{ handler: '.hidden' }, /must be a file name/],
  [{ handler: 'a\0b' }, /must be a file name/],
  [{ handler: 'a\nb' }, /must be a file name/],
  [{ handler: 'x'.repeat(129) }, /must be a file name/],
  [{ handler: 'a', args: 'b' }, /args is not a list of strings/],
  [{ handler: 'a', args: [null] }, /args is not a list of strings/],
  [{ handler: 'a', args: ['\0'] }, /NUL/],
  [{ command: ['reboot'] }, /commands are not allowed on this device/],
  [{ command: 'reboot now' }, /command is not a list of strings/],
  [{ handler: 'a', timeoutSeconds: 0 }, /timeoutSeconds/],
  [{ handler: 'a', timeoutSeconds: '5' }, /timeoutSeconds/],
  [{ handler: 'a', timeoutSeconds: 1e12 }, /timeoutSeconds/],
  [{ handler: 'a', onInterrupt: 'resume' }, /onInterrupt/],
  [{ version: '2.0', steps: [] }, /version is not "1.0"/],
  [{ steps: [] }, /version is not "1.0"/],
  [{ version: '1.0' }, /steps is not a list/],
  [{ version: '1.0', steps: [] }, /steps is not a list/],
  [{ version: '1.0', steps: [{}] }, /step 1 has no action/],
  [{ version: '1.0', steps: [], conditions: [{ key: 'os' }] }, /conditions/],
  [step({ type: 'runHandler', input: {} }), /step 1 names no handler/],
  [step({ type: 'runScript', input: {} }), /neither runHandler nor runCommand/],
  [step({ type: 'runHandler', input: { handler: 'a', path: '/bin' } }), /names the folder \/bin/],
  [step({ type: 'runHandler', input: { handler: '../a' } }), /must be a file name/],
  [step({ type: 'runHandler', input: { handler: 'a' }, runAsUser: 'root' }), /as root, .* runs as kiosk/],
  [step({ type: 'runCommand', input: { command: 'id' } }), /commands are not allowed/],
  [step({ type: 'runHandler', input: { handler: 'a' }, ignoreStepFailure: 'yes' }), /ignoreStepFailure/],
  [step({ type: 'runHandler', input: { handler: 'a' }, allowStdErr: -1 }), /allowStdErr/],
]

for (const [document, reason] of refusals) {
  test(`refuses ${JSON.stringify(document)?.slice(0, 100)}`, () => {
    const plan = planWork(document, rules)
    assert.ok(plan.kind === 'refusal')
    assert.match(plan.reason, reason)
  })
}
