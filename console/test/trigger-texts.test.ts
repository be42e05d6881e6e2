import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { callTexts, quote } from '../src/screens/trigger/call-texts.ts'
import { parsePasted, sortPasted } from '../src/screens/trigger/parse-pasted.ts'

const url = 'http://127.0.0.1:8080'
const few = { url, jobName: "it's", deviceIds: ['a', 'b c'], tag: undefined }
const many = { ...few, jobName: 'restart', deviceIds: Array.from({ length: 30 }, (_, index) => `d${index}`) }

/** What a shell makes of the command, with a program that prints its arguments and its input. */
function runInShell(command: string, program: string): { args: string[]; input: string } {
  const script = `${program}() { for arg in "$@"; do printf '%s\\0' "$arg"; done; printf '\\1'; cat; }\n${command} </dev/null\n`
  const own = command.includes('<<') ? script.replace(' </dev/null\n', '\n') : script
  const env = { ...process.env, JOBCAST_API_KEY: 'from-the-environment' }
  const [args = '', input = ''] = execFileSync('bash', ['-c', own], { encoding: 'utf8', env }).split('\u0001')
  return { args: args.split('\0').slice(0, -1), input }
}

test('the call for curl sends exactly what the button sends, with the key of the environment', () => {
  const { args } = runInShell(callTexts.curl(few).whole, 'curl')
  assert.ok(args.includes('X-API-Key: from-the-environment'))
  assert.deepEqual(JSON.parse(args.at(-1) ?? ''), { jobName: "it's", deviceIds: ['a', 'b c'] })
  const { input } = runInShell(callTexts.curl(many).whole, 'curl')
  assert.deepEqual(JSON.parse(input), { jobName: 'restart', deviceIds: many.deviceIds })
})

test('the call for the command line names the devices, or their tag', () => {
  const { args } = runInShell(callTexts.CLI(few).whole.replace(/^JOBCAST_URL=\S+ /, ''), 'npx')
  assert.deepEqual(args, ['jobcast', 'trigger', "it's", '--device', 'a', '--device', 'b c', '--wait'])
  const { input } = runInShell(callTexts.CLI(many).whole.replace(/^JOBCAST_URL=\S+ /, ''), 'npx')
  assert.deepEqual(input.trim().split('\n'), many.deviceIds)
  assert.match(callTexts.CLI({ ...many, tag: 'north wing' }).whole, /--tag 'north wing' --wait$/)
})

test('of many devices the first are shown and all are copied', () => {
  for (const kind of ['curl', 'CLI', 'TypeScript'] as const) {
    const { shown, whole } = callTexts[kind](many)
    assert.match(shown, /… 22 more, all copied/)
    assert.doesNotMatch(shown, /d29/)
    assert.match(whole, /d29/)
    assert.doesNotMatch(whole, /…/)
  }
})

test('no text is more than one word of a shell', () => {
  for (const text of ['a b', "it's", '$(id)', '`id`', '"', ';', '', '\\']) {
    assert.deepEqual(runInShell(`print ${quote(text)}`, 'print').args, [text])
  }
})

test('pasted devices come by lines, commas or a column of a table, each once', () => {
  assert.deepEqual(parsePasted('a, b\n c\r\n\n# none\nd # by the door\n"e";a\tf'), [
    'a',
    'b',
    'c',
    'd',
    'e',
    'f',
  ])
  assert.deepEqual(
    sortPasted('a,x,b', (name) => name !== 'x'),
    { known: ['a', 'b'], unknown: ['x'] },
  )
  assert.deepEqual(
    sortPasted('', () => true),
    { known: [], unknown: [] },
  )
})
